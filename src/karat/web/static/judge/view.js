// What is on screen: the page, how far one is, whether everything is saved, and what there is to say.
import { $, count, make } from "./dom.js";
import { GridPage } from "./grid.js";
import { PairPage } from "./pair.js";

const LAYOUTS = { pair: PairPage, grid: GridPage };
// How long a state lasts before it is spoken, and how long words about a key stay, in milliseconds.
const CALM = 1500;
const LASTS = 6000;
const IDLE = {
  waiting: ["One moment", "The next task is on its way."],
  offline: ["No connection", "The next task comes as soon as the server can be reached. Your answers are kept in this browser."],
  failed: ["This did not work", ""],
  out: ["You are signed out", "Or this page is too old: reload it. Your answers are kept in this browser."],
  done: ["That was all", "There is nothing left for you to judge at the moment. Thank you! You can close this page, or look again later."],
};

export class View {
  constructor() {
    this.page = null;
    this.counts = { mine: 0, done: 0, all: 0 };
    this.spoken = "";
  }

  show(judge) {
    const { task } = judge;
    this.page = new LAYOUTS[judge.form.layout](judge, task.pages[judge.page]);
    $("card").replaceChildren(this.page.element);
    $("card").dataset.page = `${task.token}/${judge.page}`;
    // Who listens hears the caption first.
    $("card").setAttribute("aria-label", judge.form.layout === "pair" ? task.pages[judge.page][0].caption : judge.form.question);
    this.quiet();
    this.place(judge);
    // On a phone the last answer was given at the bottom, and the next image is at the top.
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
    // The server counts once in a while: what was handed in here since then stays counted.
    const mine = Math.max(this.counts.mine, counts.mine);
    const done = Math.max(this.counts.done, counts.done);
    const { all } = counts;
    this.counts = { mine, done, all };
    const share = all ? Math.floor((100 * done) / all) : 0;
    $("mine").textContent = `You: ${count(mine, "task")}`;
    $("all").textContent = `Everybody: ${share} %`;
    $("all").title = `${count(done, "task")} of ${all.toLocaleString("en")} handed in`;
  }

  oneMore() {
    const { mine, done, all } = this.counts;
    this.progress({ mine: mine + 1, done: Math.min(done + 1, all), all });
  }

  idle(what, told = "") {
    this.page = null;
    const [title, text] = IDLE[what];
    const again = make("button", { type: "button", class: "main", on: { click: () => location.reload() } }, what === "done" ? "Look again" : "Reload");
    $("card").replaceChildren(
      make("div", { class: "idle", "data-idle": what }, make("h2", {}, title), make("p", { class: "lead" }, told || text),
        what === "waiting" || what === "offline" ? "" : again),
    );
    $("card").dataset.page = what;
    $("card").setAttribute("aria-label", title);
    $("place").textContent = "";
    $("bar").value = what === "done" ? $("bar").max : 0;
    if (what === "done") this.speak(`${title}. ${text}`);
  }

  // Words about the last key, which go away with the next.
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
    const kept = answers ? `: ${count(answers, "answer")} kept` : "";
    const trouble = waiting.length || !navigator.onLine;
    let mode = waiting.length ? "waiting" : "saved";
    let text = answers ? `${answers} waiting` : "Saved";
    const out = outbox.mode === "out" && trouble;
    if (out) [mode, text] = ["trouble", `Signed out${kept}`];
    else if (!navigator.onLine || (outbox.mode === "offline" && trouble)) [mode, text] = ["trouble", `Offline${kept}`];
    else if (!outbox.lasting && answers) [mode, text] = ["trouble", `${text}; this browser keeps nothing, stay online`];
    else if (!answers) mode = "saved";
    $("saved").textContent = text;
    $("saved").dataset.mode = mode;
    document.documentElement.dataset.saved = waiting.length ? "no" : "yes";
    // The page leads to signing in where that is needed, and back.
    $("help").hidden = !out;
    // Every answer is on its way for a moment; only what lasts is worth hearing.
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.speak(text), mode === "trouble" ? 0 : CALM);
  }

  speak(text) {
    if (text === this.spoken) return;
    this.spoken = text;
    $("spoken").textContent = text;
  }

  // Plainly: how many answers of a lost task do not count.
  lost(keep, carried) {
    const number = Object.keys(keep.get("lost") ?? {}).length;
    if (!number && !carried) return;
    const gone = number === 1 ? "1 answer given in it does" : `${number} answers given in it do`;
    const texts = ["Your last task is no longer yours: its time ran out and somebody else has it, or it was handed in."];
    if (number) texts.push(`${gone} not count.`);
    if (carried) texts.push(`${count(carried, "answer")} could be carried over into the task that you have now.`);
    this.banner(`${texts.join(" ")} You can simply go on.`, () => keep.remove("lost"));
  }

  refused(outbox) {
    const found = outbox.refused();
    if (!found.length) return;
    this.banner(`The server did not take an answer: ${found.at(-1).why}`, () => {
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
