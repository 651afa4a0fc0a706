// The screen: the page, the progress, whether everything is saved, and messages.
import { $, make, plural, whole } from "../dom.js";
import { GridPage } from "./grid.js";
import { PairPage } from "./pair.js";

const LAYOUTS = { pair: PairPage, grid: GridPage };
// How long a state lasts before it is announced, and how long a message stays, in milliseconds.
const CALM = 1500;
const LASTS = 6000;
const IDLE = {
  start: ["Do you want to judge?", "You own this project. When you start, a task is leased to you as to any annotator, and your answers count."],
  waiting: ["One moment", "The next task is loading."],
  offline: ["No connection", "The next task loads as soon as the server can be reached. Your answers are kept in this browser."],
  busy: ["The server cannot save at the moment", "The next task loads as soon as it can. Your answers are kept in this browser."],
  failed: ["The server returned an error", ""],
  out: ["You are signed out", "Reload the page to sign in again. Your answers are kept in this browser."],
  done: ["All done", "There are no more tasks for you at the moment. Thank you! You can close this page, or check again later."],
};

export class View {
  constructor() {
    this.page = null;
    this.counts = { own: 0, submitted: 0, assignments: 0 };
    this.spoken = "";
  }

  show(judge) {
    const { task } = judge;
    this.page = new LAYOUTS[judge.form.layout](judge, task.pages[judge.page]);
    $("card").replaceChildren(this.page.element);
    $("card").dataset.page = `${task.token}/${judge.page}`;
    // Screen readers announce the caption first.
    $("card").setAttribute("aria-label", judge.form.layout === "pair" ? task.pages[judge.page][0].caption : judge.form.question);
    this.quiet();
    this.place(judge);
    // On a phone the last answer is at the bottom, and the next image at the top.
    if (window.scrollY > $("strip").offsetTop) window.scrollTo(0, $("strip").offsetTop);
    if (!document.activeElement?.closest("#guide")) this.page.focus();
  }

  update(judge) {
    this.page?.update();
    this.quiet();
    this.place(judge);
  }

  place(judge) {
    const { task } = judge;
    const pages = task.pages.length;
    const done = pages - task.left;
    $("bar").max = pages;
    $("bar").value = done;
    $("bar").setAttribute("aria-valuetext", `${done} of ${pages} answered`);
    $("place").textContent = `${judge.page + 1} of ${pages}`;
    $("tools").hidden = false;
  }

  progress(counts) {
    // The server's counts are a few seconds old: tasks that were submitted here since then stay counted.
    const own = Math.max(this.counts.own, counts.own);
    const submitted = Math.max(this.counts.submitted, counts.submitted);
    const { assignments } = counts;
    this.counts = { own, submitted, assignments };
    const share = assignments ? Math.floor((100 * submitted) / assignments) : 0;
    $("mine").textContent = `You: ${plural(own, "task")} submitted`;
    $("all").textContent = `Project: ${share}% done`;
    $("all").title = `${whole(submitted)} of ${plural(assignments, "assignment")} submitted`;
  }

  oneMore() {
    const { own, submitted, assignments } = this.counts;
    this.progress({ own: own + 1, submitted: Math.min(submitted + 1, assignments), assignments });
  }

  idle(what, told = "", press = () => location.reload()) {
    this.page = null;
    const [title, text] = IDLE[what];
    const again = make("button", { type: "button", class: "main", on: { click: press } }, { done: "Check again", start: "Start judging" }[what] ?? "Reload");
    $("card").replaceChildren(
      make("div", { class: "idle", "data-idle": what }, make("h2", {}, title), make("p", { class: "lead" }, told || text),
        ["waiting", "offline", "busy"].includes(what) ? "" : again),
    );
    $("card").dataset.page = what;
    $("card").setAttribute("aria-label", title);
    $("place").textContent = "";
    $("bar").value = what === "done" ? $("bar").max : 0;
    if (what === "done") this.speak(`${title}. ${text}`);
  }

  // A message about the last key, which disappears with the next.
  say(text) {
    $("note").textContent = text;
    clearTimeout(this.noted);
    this.noted = setTimeout(() => this.quiet(), LASTS);
  }

  quiet() {
    $("note").textContent = "";
  }

  saved(outbox) {
    const waiting = outbox.waiting();
    const answers = new Set(waiting.filter((one) => one.kind !== "submit").map((one) => one.item)).size;
    const kept = answers ? `: ${plural(answers, "unsent answer")}` : "";
    const trouble = waiting.length || !navigator.onLine;
    let mode = waiting.length ? "waiting" : "saved";
    let text = answers ? `Saving ${plural(answers, "answer")}` : "Saved";
    const out = outbox.mode === "out" && trouble;
    if (out) [mode, text] = ["trouble", `Signed out${kept}`];
    else if (!navigator.onLine || (outbox.mode === "offline" && trouble)) [mode, text] = ["trouble", `Offline${kept}`];
    else if (outbox.mode === "busy" && trouble) [mode, text] = ["trouble", `The server cannot save at the moment${kept}`];
    else if (!outbox.lasting && answers) [mode, text] = ["trouble", `${text}; this browser cannot store answers, stay online`];
    else if (!answers) mode = "saved";
    $("saved").textContent = text;
    $("saved").dataset.mode = mode;
    document.documentElement.dataset.saved = waiting.length ? "no" : "yes";
    // Reloading leads to the sign-in page and back.
    $("help").hidden = !out;
    // Every answer is unsaved for a moment; only a lasting state is announced.
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.speak(text), mode === "trouble" ? 0 : CALM);
  }

  speak(text) {
    if (text === this.spoken) return;
    this.spoken = text;
    $("spoken").textContent = text;
  }

  // How many answers of a lost task do not count.
  lost(keep, carried) {
    const number = Object.keys(keep.get("lost") ?? {}).length;
    if (!number && !carried) return;
    const lost = number === 1 ? "1 of your answers in it does" : `${number} of your answers in it do`;
    const texts = ["You no longer have your last task: its lease expired and another annotator has it, or it was submitted."];
    if (number) texts.push(`${lost} not count.`);
    if (carried) texts.push(`${plural(carried, "answer")} could be carried over into your current task.`);
    this.banner(`${texts.join(" ")} You can simply continue.`, () => keep.remove("lost"));
  }

  refused(outbox) {
    const found = outbox.refused();
    if (!found.length) return;
    this.banner(`The server refused an answer: ${found.at(-1).why}`, () => {
      for (const { name } of outbox.refused()) outbox.forget(name);
    });
  }

  banner(text, understood) {
    $("banner-text").textContent = text;
    $("banner").hidden = false;
    $("banner-close").onclick = () => {
      understood();
      $("banner").hidden = true;
      this.page?.focus();
    };
  }
}
