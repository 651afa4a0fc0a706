// The judging page: puts the parts together.
import { ask } from "../forms.js";
import { call } from "./api.js";
import { $ } from "../dom.js";
import { enlargeJudged } from "./figures.js";
import { Guide } from "./guide.js";
import { History } from "./history.js";
import { Judge } from "./judge.js";
import { Keep, browserStorage } from "./keep.js";
import { listen } from "./keys.js";
import { returnTask, holdWhileActive } from "./leases.js";
import { OPERATION, Outbox } from "./outbox.js";
import { toggleRegions } from "./regions.js";
import { Supply } from "./supply.js";
import { View } from "./view.js";

const { user, project, owner } = $("judge").dataset;
const prefix = `karat-judge:${project}:${user}:`;
const keep = new Keep(prefix, browserStorage("localStorage"));
const history = new History(new Keep(prefix, browserStorage("sessionStorage")));
const outbox = new Outbox(keep);
const view = new View();

async function state() {
  for (;;) {
    try {
      return await call("GET", "state");
    } catch (error) {
      const kinds = { 0: "offline", 503: "busy" };
      view.idle(kinds[error.status] ?? "failed", error.status === 0 ? "" : error.message);
      if (error.status && error.status < 500) throw error;
      await new Promise((done) => { setTimeout(done, Math.max(error.wait ?? 0, 3000)); });
    }
  }
}

// How long the next item takes to appear after a key press, as a performance measure.
function measure(event) {
  const before = $("card").dataset.page;
  requestAnimationFrame(() => {
    if ($("card").dataset.page === before) return;
    const channel = new MessageChannel();
    channel.port1.onmessage = () => performance.measure("karat-next", { start: event.timeStamp, end: performance.now() });
    channel.port2.postMessage(null);
  });
}

async function start() {
  for (const event of ["changed", "sent", "refused"]) outbox.addEventListener(event, () => view.saved(outbox));
  for (const event of ["online", "offline"]) window.addEventListener(event, () => view.saved(outbox));
  outbox.drain();
  const { form, lease, progress } = await state();
  view.progress(progress);
  const judge = new Judge({ form, keep, outbox, history, view });
  const supply = new Supply(judge, owner === "yes", Boolean(lease));
  holdWhileActive(judge, supply);
  const guide = new Guide(form, keep);
  guide.onClose = () => view.page?.focus();
  const calls = {
    undo: () => judge.undo(), redo: () => judge.redo(), next: () => judge.next(), previous: () => judge.previous(),
    zoom: () => {
      if (judge.task) enlargeJudged(judge.task.pages[judge.page]);
    },
    guide: () => guide.toggle(), keys: () => guide.showKeys(), covered: () => guide.covers,
    regions: form.regions ? toggleRegions : undefined,
  };
  document.addEventListener("keydown", measure, { capture: true });
  listen(() => view.page, calls);
  // A button that was clicked with the mouse does not keep the focus: Enter would press it again, not continue.
  $("judge").addEventListener("click", (event) => {
    if (event.detail && event.target.closest("button")) view.page?.focus();
  }, { capture: true });
  for (const name of ["undo", "redo", "previous", "next"]) $(name).addEventListener("click", calls[name]);
  $("return-task").addEventListener("click", async () => {
    if (await ask($("return-dialog"))) returnTask(judge, supply);
  });
  keep.onChange((name, value) => {
    if (name.startsWith("refused:") && value) supply.refused({ ...value, elsewhere: true });
    if (name.startsWith(OPERATION) && value) judge.follow(value);
    view.saved(outbox);
    if (name.startsWith(OPERATION) && !value && !judge.task) supply.more();
  });
  await supply.more();
  view.saved(outbox);
  document.documentElement.dataset.ready = "yes";
}

start();
