// Decide pair by pair, with the form's own keys; arrows move, Backspace undoes.
import { $, make } from "../dom.js";
import { send, url } from "../http.js";
import { cover, showRegions, toggleButton, toggleRegions } from "../judge/regions.js";
import { sentence } from "../forms.js";
import { kindTag, table } from "./build.js";
import { computing, decimal, percent, plural } from "./words.js";

const state = { which: "open", pairs: [], all: 0, at: 0, last: null, busy: false, shown: null };
const buttons = [...document.querySelectorAll(".choice")];
const pathOf = (pair) => `/api/dashboard/disagreements/${pair.image}/${pair.caption}`;

async function attempt(work) {
  if (state.busy) return;
  state.busy = true;
  $("said").hidden = true;
  try {
    await work();
  } catch (error) {
    $("said").textContent = sentence(error.message);
    $("said").hidden = false;
  }
  state.busy = false;
}

// The first result takes a while in a large project: say how far it is, and ask again.
async function computed(path) {
  for (;;) {
    const data = await send("GET", path);
    // Beside a result, `computing` says that a newer one is coming.
    if (!data.computing || data.as_of || data.answers) return data;
    $("pair").hidden = true;
    $("empty").hidden = false;
    $("count").textContent = "";
    $("empty").textContent = `The disagreements will be shown here: ${computing(data.computing)}`;
    await new Promise((done) => { setTimeout(done, 1000); });
  }
}

async function load() {
  const data = await computed(`/api/dashboard/disagreements?which=${state.which}`);
  Object.assign(state, { pairs: data.pairs, all: data.all, at: 0 });
  await show();
}

function shown(data) {
  const picture = $("picture");
  state.shown = data;
  picture.hidden = false;
  $("no-picture").hidden = true;
  picture.src = data.picture;
  cover($("stage"), null);
  if (data.region) {
    showRegions();
    // Another pair may be on screen by then.
    picture.decode().then(() => { if (state.shown === data) cover($("stage"), data.region); }, () => {});
  }
  $("own").hidden = !data.own_picture;
  if (data.own_picture) $("own-picture").src = data.own_picture;
  $("caption").textContent = data.text;
  const [first, second] = data.sides;
  $("ids").textContent = `${first[0].toUpperCase()}${first.slice(1)} ${data.image_id}, ${second} ${data.caption_id}. Disagreement ${percent(data.share)}, aggregated relevance ${decimal(data.relevance)}.`;
  for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.code === data.decision?.code));
  const rows = data.answers.map((record) => [
    make("span", {}, make("bdi", {}, record.annotator), kindTag(record.kind)),
    record.text, record.details.length ? make("span", {}, record.details.map((text) => make("span", { class: "detail" }, text))) : "", record.seconds === null ? "–" : `${decimal(record.seconds, 1)} s`,
  ]);
  table($("answers"), ["Annotator", "Answer", "Details", "Time"], rows);
}

async function show() {
  const pair = state.pairs[state.at];
  $("pair").hidden = !pair;
  $("empty").hidden = Boolean(pair);
  $("undo").disabled = !state.last;
  $("count").textContent = pair ? `${state.at + 1} of ${plural(state.all, "pair")}` : "";
  if (pair) {
    shown(await computed(pathOf(pair)));
    $("pair").hidden = false;
    $("empty").hidden = true;
  } else {
    $("empty").textContent = state.which === "open" ? "There are no open disagreements." : "You have not decided any pair yet.";
  }
  const coming = state.pairs[state.at + 1];
  // Load the next image ahead.
  if (coming) new Image().src = url(`/api/dashboard/picture/${coming.image}`);
  document.documentElement.dataset.ready = "yes";
  document.documentElement.dataset.pair = pair ? `${pair.image}/${pair.caption}` : "";
}

async function move(by) {
  const to = state.at + by;
  if (to >= 0 && to < state.pairs.length) {
    state.at = to;
    await show();
  } else if (by > 0 && state.pairs.length < state.all) {
    await load();
  }
}

async function decide(code) {
  const pair = state.pairs[state.at];
  if (!pair) return;
  await send("PUT", pathOf(pair), { code });
  state.last = pair;
  if (state.which === "open") {
    state.pairs.splice(state.at, 1);
    state.all -= 1;
    state.at = Math.min(state.at, Math.max(0, state.pairs.length - 1));
    if (!state.pairs.length && state.all) await load();
    else await show();
  } else {
    await show();
  }
}

async function undo() {
  if (!state.last) return;
  const pair = state.last;
  await send("PUT", pathOf(pair), { code: null });
  state.last = null;
  if (state.which === "open") {
    state.pairs.splice(state.at, 0, pair);
    state.all += 1;
    await show();
  } else {
    await load();
  }
}

function choose(which) {
  state.which = which;
  for (const name of ["open", "decided"]) $(name).setAttribute("aria-pressed", String(name === which));
  return load();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.target.closest("input, select, textarea")) return;
  const button = buttons.find((record) => record.dataset.key && record.dataset.key.toLowerCase() === event.key.toLowerCase());
  const work = button ? () => decide(button.dataset.code)
    : { ArrowLeft: () => move(-1), ArrowRight: () => move(1), Backspace: undo, o: $("regions") && toggleRegions }[event.key];
  if (!work || (event.target.closest(".scroll") && event.key.startsWith("Arrow"))) return;
  event.preventDefault();
  attempt(work);
});
for (const button of buttons) button.addEventListener("click", () => attempt(() => decide(button.dataset.code)));
$("previous").addEventListener("click", () => attempt(() => move(-1)));
$("next").addEventListener("click", () => attempt(() => move(1)));
$("undo").addEventListener("click", () => attempt(undo));
$("open").addEventListener("click", () => attempt(() => choose("open")));
$("decided").addEventListener("click", () => attempt(() => choose("decided")));
$("picture").addEventListener("error", () => {
  $("picture").hidden = true;
  $("no-picture").hidden = false;
});
$("regions")?.append(toggleButton());
attempt(load);
