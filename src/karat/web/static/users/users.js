// The owner's page of users: invite, change, reset, remove. Changes redraw the lists, and a link that was made stays.
import { send, url } from "../http.js";
import { ask, onSubmit, sentence } from "../forms.js";

const $ = (id) => document.getElementById(id);
const ROLES = { judge: "an annotator", reader: "a reader", owner: "an owner" };
const MAY = {
  judge: "An annotator judges pairs, and does not see the dashboard.", reader: "A reader sees the dashboard, and cannot judge.",
  owner: "An owner may do everything, also invite and remove users.",
};
// How long "Copied" stays, in milliseconds.
const LASTS = 2000;
let timer = 0;

function label(text) {
  clearTimeout(timer);
  $("copy").textContent = text;
  if (text !== "Copy") timer = setTimeout(() => label("Copy"), LASTS);
}

// Write a text around a name, which is isolated: a right-to-left name must not affect the text.
function write(element, [before, name, after]) {
  const isolated = document.createElement("bdi");
  isolated.textContent = name;
  element.replaceChildren(before, isolated, after);
}

function quiet() {
  for (const id of ["said", "done"]) $(id).hidden = true;
}

function say(place, text) {
  quiet();
  $(place).hidden = false;
  write($(place), text);
}

async function attempt(work) {
  quiet();
  try {
    await work();
  } catch (error) {
    say("said", [sentence(error.message), "", ""]);
  }
}

// The lists as the server has them now. Users who may no longer see them get the page that they may see.
async function redraw() {
  const response = await fetch(url("/users"), { credentials: "same-origin" }).catch(() => null);
  if (response?.redirected || response?.status === 403) {
    location.reload();
    return;
  }
  if (!response?.ok) throw new Error("The lists could not be loaded again: reload the page.");
  const focus = placeOf(document.activeElement);
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
  $("lists").replaceChildren(...document.adoptNode(fresh.getElementById("lists")).childNodes);
  // A link that was used or revoked meanwhile is not shown any longer.
  const { link } = $("made").dataset;
  if (link && !$("lists").querySelector(`tr[data-link="${link}"]`)) $("made").hidden = true;
  if (focus) ($("lists").querySelector(focus) ?? $("lists").querySelector(".scroll")).focus({ preventScroll: true });
}

// How to find a control of the lists again after they were redrawn.
function placeOf(control) {
  const row = control?.closest("#lists tr");
  if (!row) return "";
  const [name, number] = Object.entries(row.dataset).find(([key]) => key === "user" || key === "link");
  return `tr[data-${name}="${number}"] ${control.dataset.do ? `[data-do="${control.dataset.do}"]` : control.localName}`;
}

async function change(method, path, body, done) {
  await send(method, path, body);
  await redraw();
  say("done", done);
}

async function showLink(title, made) {
  const { link } = await made;
  label("Copy");
  write($("made-title"), title);
  $("link").value = link;
  delete $("made").dataset.link;
  $("made").hidden = false;
  await redraw();
  // The newest link comes first.
  $("made").dataset.link = $("lists").querySelector("tr[data-link]")?.dataset.link ?? "";
  $("made").scrollIntoView({ block: "nearest" });
  $("link").focus();
  $("link").select();
}

// Ask whether to go on; Enter and Escape cancel.
function sure(title, text, yes, danger = true) {
  return ask($("sure"), () => {
    write($("sure-title"), title);
    $("sure-text").textContent = text;
    $("sure-yes").textContent = yes;
    $("sure-yes").classList.toggle("danger", danger);
  });
}

onSubmit($("invite"), async ({ role, name, days }) => {
  quiet();
  await showLink([`Invitation of ${ROLES[role]}${name.trim() && ", "}`, name.trim(), "."], send("POST", "/api/users/links", { role, name, days: Number(days) }));
  // The next invitation is for another user.
  $("name").value = "";
});

$("copy").addEventListener("click", async () => {
  $("link").select();
  try {
    await navigator.clipboard.writeText($("link").value);
    label("Copied");
  } catch {
    label("Press Ctrl+C");
  }
});

const userOf = (row) => `/api/users/${row.dataset.user}`;

async function setActive(row, on) {
  const { name } = row.dataset;
  const text = "The user is signed out and cannot sign in until you enable the account. The answers stay and count.";
  if (!on && !(await sure(["Disable ", name, "?"], text, "Disable"))) return;
  await change("PATCH", userOf(row), { active: on }, ["", name, on ? " is enabled." : " is disabled."]);
}

async function setRole(row, choice) {
  const { name } = row.dataset;
  const role = choice.value;
  // Until it is confirmed, the page shows the role that the user has.
  choice.value = choice.querySelector("[selected]").value;
  if (!(await sure(["Make ", name, ` ${ROLES[role]}?`], MAY[role], "Change role", false))) return;
  await change("PATCH", userOf(row), { role }, ["", name, ` is now ${ROLES[role]}.`]);
}

const CONFIRM = "Rights begin at once, with the password or the link as it is. Confirm only what you made, or somebody whom you know.";

async function confirm(row) {
  const { user, name, link } = row.dataset;
  const what = user ? ["Confirm ", name, "?"] : ["Confirm this link?", "", ""];
  if (!(await sure(what, CONFIRM, "Confirm", false))) return;
  const path = user ? userOf(row) : `/api/users/links/${link}`;
  await change("PATCH", path, { confirmed: true }, user ? ["", name, " is confirmed."] : ["The link is confirmed.", "", ""]);
}

async function confirmAll() {
  if (!(await sure(["Confirm all accounts and links?", "", ""], CONFIRM, "Confirm all", false))) return;
  await change("PATCH", "/api/users", { confirmed: true }, ["All are confirmed.", "", ""]);
}

const ACTIONS = {
  confirm,
  all: confirmAll,
  reset: (row) => showLink(["New password for ", row.dataset.name, "."], send("POST", `${userOf(row)}/reset`)),
  active: (row, button) => setActive(row, button.dataset.to === "yes"),
  remove: async (row) => {
    const { name } = row.dataset;
    const text = "The account and its name are deleted permanently. The answers stay, under a pseudonym.";
    if (await sure(["Remove ", name, "?"], text, "Remove")) await change("DELETE", userOf(row), undefined, ["", name, " is removed."]);
  },
  revoke: (row) => change("DELETE", `/api/users/links/${row.dataset.link}`, undefined, ["The link is revoked.", "", ""]),
};

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-do]");
  if (button) attempt(() => ACTIONS[button.dataset.do](button.closest("tr"), button));
});
document.addEventListener("change", (event) => {
  if (event.target.matches("select.role")) attempt(() => setRole(event.target.closest("tr"), event.target));
});
