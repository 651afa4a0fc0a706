// The supply of tasks: the current one, the next one ahead of time, and a new one after a lost lease.
import { call, isOut, passes } from "./api.js";
import { addressesOf } from "./figures.js";
import { prefetch } from "./images.js";
import { lose, recover } from "./losses.js";
import { Task } from "./tasks.js";

// How many pages ahead images are loaded, and how many pages before the end the next task is leased.
const PICTURES = 4;
const NEAR = { pair: 6, grid: 3 };
const RETRY = 3000;
const AWAY = 60000;

export class Supply {
  // With `byHand`, nothing is leased before `start`: owners who look at the page do not take a task from others.
  constructor(judge, byHand, started) {
    this.judge = judge;
    this.byHand = byHand;
    this.started = started || !byHand;
    this.outbox = judge.outbox;
    this.nothing = false;
    this.asking = false;
    judge.onFinish = () => {
      if (!judge.task) this.more();
    };
    judge.onPage = () => this.look();
    this.outbox.addEventListener("sent", ({ detail }) => {
      if (detail.kind === "submit") this.submitted();
    });
    this.outbox.addEventListener("refused", ({ detail }) => this.refused(detail));
    document.addEventListener("visibilitychange", () => this.visible());
    window.addEventListener("pagehide", () => this.outbox.leave());
    window.addEventListener("pageshow", (event) => event.persisted && this.refresh());
    window.addEventListener("online", () => this.online());
  }

  async start() {
    this.started = true;
    this.judge.view.idle("waiting");
    await this.more();
  }

  // Owners are asked again before the next task is leased.
  stop() {
    this.started = !this.byHand;
  }

  // Request the current task; unsent answers are sent first.
  async more() {
    if (this.asking) return;
    if (!this.started) {
      this.judge.view.idle("start", "", () => this.start());
      return;
    }
    if (this.outbox.submits()) {
      // If there is no next task, wait for the delayed submission, so that the last answer can be undone.
      this.judge.view.idle(this.nothing ? "done" : "waiting");
      if (!this.nothing) await this.outbox.hurry();
      const { mode } = this.outbox;
      if (mode !== "sending" && !this.judge.task && this.outbox.submits()) this.judge.view.idle(mode);
      return;
    }
    await this.ask((error) => {
      if (passes(error)) this.judge.view.idle(error.status === 503 ? "busy" : "offline", error.status === 503 ? error.message : "");
      else this.judge.view.idle(isOut(error) ? "out" : "failed", isOut(error) ? "" : error.message);
      if (passes(error)) setTimeout(() => this.more(), Math.max(error.wait ?? 0, RETRY));
    });
  }

  async ask(failed) {
    this.asking = true;
    const moment = this.outbox.moment();
    try {
      this.adopt(await call("POST", "lease", { ahead: false }), moment);
    } catch (error) {
      failed(error);
    } finally {
      this.asking = false;
    }
    // The new task may already be answered completely.
    if (!this.judge.task && this.outbox.submits()) this.more();
  }

  adopt(found, moment) {
    const { judge } = this;
    const { task } = judge;
    if (task && found.lease?.token !== task.token) lose(judge, task.token);
    judge.view.progress(found.progress);
    const known = this.outbox.known(moment);
    const before = judge.tasks.map((one) => one.token);
    const leases = [found.lease, found.ahead].filter((one) => one && !this.outbox.submits(one.token));
    const fresh = leases.map((lease) => new Task(lease, judge.form, known));
    const ahead = judge.tasks.slice(1).filter((one) => fresh.every((task) => task.token !== one.token));
    judge.tasks = found.lease ? [...fresh, ...ahead] : [];
    if (!judge.task) {
      if (found.lease) setTimeout(() => this.more(), 0);
      else judge.view.idle("done");
      this.judge.view.lost(judge.keep, 0);
      return;
    }
    recover(judge, judge.task);
    const place = judge.keep.get("place");
    const open = judge.task.open();
    // The task was answered completely before the page was closed.
    if (open < 0) judge.finish();
    else if (judge.view.page && before[0] === judge.task.token) judge.show(judge.page);
    else judge.show(place?.token === judge.task.token && judge.task.pages[place.page] ? place.page : open);
  }

  // Look ahead: load the next images and, near the end, lease the next task.
  look() {
    const { judge } = this;
    if (!judge.task) return;
    const next = judge.task.pages.slice(judge.page, judge.page + 1 + PICTURES);
    const before = judge.task.pages.slice(Math.max(0, judge.page - 1), judge.page);
    const after = judge.tasks[1]?.pages.slice(0, Math.max(1, 1 + PICTURES - next.length)) ?? [];
    prefetch([...next, ...after, ...before].flatMap(addressesOf));
    if (judge.task.left <= NEAR[judge.form.layout] && judge.tasks.length < 2) this.ahead();
  }

  async ahead() {
    const { judge } = this;
    if (this.asking || this.outbox.submits()) return;
    this.asking = true;
    try {
      const { task } = judge;
      const moment = this.outbox.moment();
      const found = await call("POST", "lease", { ahead: true });
      this.nothing = !found.ahead;
      if (task === judge.task && found.lease?.token !== task.token) this.refreshIn(0);
      else if (found.ahead && found.lease?.token === judge.task?.token && judge.tasks.length < 2) {
        judge.tasks.push(new Task(found.ahead, judge.form, this.outbox.known(moment)));
        judge.view.progress(found.progress);
      }
    } catch {
      // The next page tries again.
    } finally {
      this.asking = false;
    }
    if (!judge.task) this.more();
    else if (judge.tasks.length > 1) this.look();
  }

  submitted() {
    const { judge } = this;
    judge.view.oneMore();
    if (judge.task) this.look();
    else this.more();
  }

  // The server has refused an operation: show it, and continue with what the server has.
  refused(operation) {
    const { judge } = this;
    const late = operation.status === 409 || operation.status === 410;
    if (late) lose(judge, operation.token);
    else judge.view.refused(this.outbox);
    if (!late && operation.kind === "submit") {
      judge.view.idle("failed", operation.why);
      return;
    }
    // After another tab, wait until that one has carried its answers over.
    this.refreshIn(operation.elsewhere ? 500 : 50);
  }

  refreshIn(wait) {
    clearTimeout(this.again);
    this.again = setTimeout(() => this.refresh(), wait);
  }

  // Compare with the server: another device, or an expired lease, may have changed the tasks.
  async refresh() {
    if (this.asking || this.outbox.submits()) {
      this.refreshIn(200);
      return;
    }
    if (!this.judge.task) {
      this.more();
      return;
    }
    this.judge.leave();
    // If it fails, the current task stays, and the outbox shows that the server cannot be reached.
    await this.ask(() => {});
  }

  visible() {
    if (document.hidden) {
      this.hidden = Date.now();
      this.outbox.hurry();
    } else if (this.hidden && Date.now() - this.hidden > AWAY) this.refresh();
  }

  online() {
    this.outbox.failures = 0;
    this.outbox.drain();
    if (this.judge.task) this.look();
    else this.more();
  }
}
