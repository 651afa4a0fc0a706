// The owner's page of users: invite, change, reset, remove.
import { send } from "../http.js";
import { onSubmit, sentence } from "../forms.js";

const said = document.getElementById("said");

function showLink(link) {
  const field = document.getElementById("link");
  field.value = link;
  document.getElementById("made").hidden = false;
  document.getElementById("made").scrollIntoView({ block: "nearest" });
  field.focus();
  field.select();
}

function sure(name) {
  const dialog = document.getElementById("sure");
  document.getElementById("sure-name").textContent = name;
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((done) => {
    dialog.addEventListener("close", () => done(dialog.returnValue === "yes"), { once: true });
  });
}

async function attempt(work) {
  said.hidden = true;
  try {
    await work();
  } catch (error) {
    said.textContent = sentence(error.message);
    said.hidden = false;
    said.scrollIntoView({ block: "nearest" });
  }
}

async function changed(method, path, body) {
  await send(method, path, body);
  location.reload();
}

onSubmit(document.getElementById("invite"), async ({ role, name, days }) => {
  const { link } = await send("POST", "/api/users/links", { role, name, days: Number(days) });
  showLink(link);
});

document.getElementById("copy").addEventListener("click", async (event) => {
  const field = document.getElementById("link");
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
    event.target.textContent = "Copied";
  } catch {
    event.target.textContent = "Press Ctrl+C";
  }
});

const ACTIONS = {
  reset: async (row) => showLink((await send("POST", `/api/users/${row.dataset.user}/reset`)).link),
  active: (row, button) => changed("PATCH", `/api/users/${row.dataset.user}`, { active: button.dataset.to === "yes" }),
  remove: async (row) => {
    if (await sure(row.dataset.name)) await changed("DELETE", `/api/users/${row.dataset.user}`);
  },
  revoke: (row) => changed("DELETE", `/api/users/links/${row.dataset.link}`),
};

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-do]");
  if (button) attempt(() => ACTIONS[button.dataset.do](button.closest("tr"), button));
});

for (const choice of document.querySelectorAll("select.role")) {
  const before = choice.value;
  choice.addEventListener("change", () => attempt(async () => {
    try {
      await changed("PATCH", `/api/users/${choice.closest("tr").dataset.user}`, { role: choice.value });
    } catch (error) {
      choice.value = before;
      throw error;
    }
  }));
}
