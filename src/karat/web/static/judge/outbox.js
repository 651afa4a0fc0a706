// The outbox: answers are kept in the browser until the server has stored them, and are sent one by one, in order.
// Each has a key, so that an answer that is sent twice is stored once.
import { isOut, passes, call as request } from "./api.js";
import { randomKey } from "./keep.js";

const OPERATION = "op:";
const REFUSED = "refused:";
const WAITS = [500, 1000, 2000, 4000, 8000];
const MOST_AT_ONCE = 50;
const DIGITS = 15;
const REMEMBER = 60000;

export class Outbox extends EventTarget {
  constructor(keep) {
    super();
    this.keep = keep;
    this.sent = [];
    this.failures = 0;
    this.mode = "sending";
    this.busy = false;
    this.inFlight = "";
    this.timer = 0;
    this.lasting = true;
  }

  // Answers, withdrawals and submissions that the server has not confirmed, in order.
  waiting() {
    return this.keep.names(OPERATION).map((name) => ({ name, ...this.keep.get(name) })).filter((one) => one.kind);
  }

  add(operation, delay = 0) {
    // In order even if the clock is set back.
    const newest = Number(this.keep.names(OPERATION).at(-1)?.slice(OPERATION.length, OPERATION.length + DIGITS) ?? 0);
    const order = String(Math.max(Date.now(), newest + 1)).padStart(DIGITS, "0");
    const due = delay ? Date.now() + delay : 0;
    const name = `${OPERATION}${order}-${randomKey()}`;
    this.lasting = this.keep.set(name, { ...operation, key: randomKey(), due });
    this.changed();
    this.drain();
  }

  // A moment: `known` returns all operations since then, which a response of the server may not include.
  moment() {
    return { at: performance.now(), waiting: this.waiting() };
  }

  known({ at, waiting }) {
    const sent = this.sent.filter((one) => one.at >= at).map((one) => one.operation);
    const all = new Map([...waiting, ...sent, ...this.waiting()].map((one) => [one.name, one]));
    return [...all.keys()].sort().map((name) => all.get(name));
  }

  // Send delayed operations now.
  hurry() {
    for (const { name, ...one } of this.waiting()) if (one.due) this.keep.set(name, { ...one, due: 0 });
    return this.drain();
  }

  // Stop a delayed submission; return whether it was still possible.
  stop(token) {
    const found = this.waiting().find((one) => one.kind === "submit" && one.token === token);
    if (!found || !found.due || found.name === this.inFlight) return false;
    this.keep.remove(found.name);
    this.changed();
    return true;
  }

  submits(token) {
    return this.waiting().some((one) => one.kind === "submit" && (!token || one.token === token));
  }

  // One tab at a time sends, if the browser has locks; without them, the keys prevent duplicates.
  async drain() {
    if (this.busy) return;
    this.busy = true;
    clearTimeout(this.timer);
    let wait = 0;
    try {
      const lock = navigator.locks;
      wait = lock ? await lock.request(`${this.keep.prefix}outbox`, () => this.sendAll()) : await this.sendAll();
    } finally {
      this.busy = false;
    }
    this.changed();
    // Something may have been added or become due meanwhile.
    const next = this.waiting()[0];
    if (next) this.timer = setTimeout(() => this.drain(), Math.max(wait, next.due - Date.now(), 0));
  }

  // Send until nothing is due; return how many milliseconds to wait before the next attempt.
  async sendAll() {
    for (;;) {
      const next = this.waiting()[0];
      if (!next || next.due > Date.now()) return 0;
      this.inFlight = next.name;
      try {
        await request("POST", next.kind, body(next));
        this.failures = 0;
        this.mode = "sending";
        this.keep.remove(next.name);
        const now = performance.now();
        this.sent = [...this.sent.filter((one) => one.at > now - REMEMBER), { at: now, operation: next }];
        this.say("sent", next);
      } catch (error) {
        const wait = this.failed(next, error);
        if (wait) return wait;
      } finally {
        this.inFlight = "";
      }
      this.changed();
    }
  }

  failed(operation, error) {
    if (passes(error) || isOut(error)) {
      this.mode = isOut(error) ? "out" : error.status === 503 ? "busy" : "offline";
      const wait = Math.max(error.wait ?? 0, WAITS[Math.min(this.failures, WAITS.length - 1)]);
      this.failures += 1;
      return wait * (0.8 + 0.4 * Math.random());
    }
    // The server has refused it: it is set aside, and shown before it is dropped.
    const { name, ...kept } = operation;
    this.keep.set(name.replace(OPERATION, REFUSED), { ...kept, status: error.status, why: error.message });
    this.keep.remove(name);
    this.say("refused", { ...operation, status: error.status, why: error.message });
    return 0;
  }

  refused() {
    return this.keep.names(REFUSED).map((name) => ({ name, ...this.keep.get(name) })).filter((one) => one.kind);
  }

  forget(name) {
    this.keep.remove(name);
  }

  // The page is closed: everything that waits is sent in one request, which the browser finishes by itself. It
  // also stays here; what has arrived is not stored twice.
  leave() {
    const all = this.waiting();
    const { token } = all[0] ?? {};
    const steps = all.filter((one) => one.token === token).slice(0, MOST_AT_ONCE);
    if (!steps.length) return;
    const submit = steps.at(-1).kind === "submit";
    const answers = steps.filter((one) => one.kind !== "submit").map((one) => {
      const { token: _, ...rest } = body(one);
      return rest;
    });
    request("POST", "leave", { token, answers, submit }, true).catch(() => {});
  }

  changed() {
    this.say("changed");
  }

  say(what, detail) {
    this.dispatchEvent(new CustomEvent(what, { detail }));
  }
}

function body({ kind, token, item, key, code, details, seconds }) {
  if (kind === "submit") return { token };
  return kind === "withdraw" ? { token, item, key } : { token, item, key, code, details, seconds };
}

export { OPERATION };
