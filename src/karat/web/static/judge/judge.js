// Answering, continuing, undo and redo. The screen changes at once; the outbox sends the answers.
import { Clock } from "./clock.js";
import { same } from "./form.js";

// How many milliseconds a finished task waits before it is submitted, so that the last answer can be undone.
const GRACE = 4000;

export class Judge {
  constructor({ form, keep, outbox, history, view }) {
    Object.assign(this, { form, keep, outbox, history, view });
    this.tasks = [];
    this.finished = null;
    this.page = 0;
    this.clock = new Clock();
    this.spent = new Map();
    this.onFinish = () => {};
    this.onPage = () => {};
  }

  get task() {
    return this.tasks[0];
  }

  show(page) {
    this.leave();
    this.page = page;
    this.keep.set("place", { token: this.task.token, page });
    this.clock.lap();
    this.view.show(this);
    this.onPage();
  }

  leave() {
    this.view.page?.leave();
  }

  say(text) {
    this.view.say(text);
  }

  // Store answers, given as [{item, after}], as one step of the history.
  give(changes) {
    const real = changes
      .filter(({ item }) => this.task?.answers.has(item.id))
      .map(({ item, after }) => ({ item: item.id, before: this.task.answer(item), after }))
      .filter(({ before, after }) => !same(before, after));
    if (!real.length) return;
    this.history.push({ token: this.task.token, page: this.page, changes: real });
    this.write(this.task, real.map(({ item, after }) => [item, after]));
    this.view.update(this);
  }

  // Keep answers and send them. Answers that are given together share the time.
  write(task, answers) {
    const share = this.clock.lap() / answers.length;
    for (const [item, answer] of answers) {
      this.spent.set(item, (this.spent.get(item) ?? 0) + share);
      task.answers.set(item, answer);
      const { token } = task;
      const seconds = Math.round(this.spent.get(item) * 1000) / 1000;
      this.outbox.add(answer ? { kind: "answer", token, item, ...answer, seconds } : { kind: "withdraw", token, item });
    }
    // An answer in the next task confirms the last one: submit it now.
    if (this.outbox.submits()) this.outbox.hurry();
  }

  advance() {
    this.history.seal(this.task.token, this.page, this.form.layout === "pair");
    const next = this.task.open(this.page + 1);
    if (next < 0) this.finish();
    else this.show(next);
  }

  // Everything is answered: submit the task, and continue with the next.
  finish() {
    this.leave();
    this.finished = this.tasks.shift();
    this.outbox.add({ kind: "submit", token: this.finished.token }, GRACE);
    if (this.task) this.show(Math.max(0, this.task.open()));
    this.onFinish();
  }

  undo() {
    this.leave();
    const step = this.history.last();
    if (!step) return this.say("There is nothing to undo.");
    if (!this.reach(step.token)) {
      this.history.drop(step.token);
      return this.say("That task was submitted: its answers can no longer be changed.");
    }
    this.history.undo();
    this.write(this.task, step.changes.map(({ item, before }) => [item, before]));
    this.show(step.page);
    return this.say("Undone.");
  }

  redo() {
    this.leave();
    const step = this.history.next();
    if (!step || step.token !== this.task?.token) return this.say("There is nothing to redo.");
    this.history.redo();
    this.write(this.task, step.changes.map(({ item, after }) => [item, after]));
    if (!step.sealed) this.show(step.page);
    else {
      const next = this.task.open(step.page + 1);
      if (next < 0) this.finish();
      else this.show(next);
    }
    return this.say("Redone.");
  }

  // Whether a task is the current one, or can be reopened because it was not submitted yet.
  reach(token) {
    if (this.task?.token === token) return true;
    if (this.finished?.token !== token || !this.outbox.stop(token)) return false;
    this.tasks.unshift(this.finished);
    this.finished = null;
    return true;
  }

  next() {
    if (this.task) this.turn(1);
  }

  previous() {
    if (this.task) this.turn(-1);
  }

  turn(by) {
    this.leave();
    const page = this.page + by;
    if (page < 0) return this.say("This is the first pair of the task.");
    if (page < this.task.pages.length) return this.show(page);
    const open = this.task.open();
    if (open === this.page) return this.say("This is the last pair without an answer.");
    this.show(open);
    return this.say("Some pairs still need an answer.");
  }

  // An operation of the same user in another tab.
  follow(operation) {
    if (operation.kind === "submit") {
      if (this.task?.token !== operation.token) return;
      this.finished = this.tasks.shift();
      if (this.task) this.show(Math.max(0, this.task.open()));
      this.onFinish();
      return;
    }
    if (!this.tasks.some((task) => task.take(operation)) || !this.task) return;
    const open = this.task.open(this.page);
    // A window without focus follows.
    if (!document.hasFocus() && open >= 0 && open !== this.page) this.show(open);
    else this.view.update(this);
  }
}
