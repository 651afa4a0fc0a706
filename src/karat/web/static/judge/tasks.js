// A leased task: its items, its pages, and the answers so far.
import { isComplete } from "./form.js";

export class Task {
  constructor(lease, form, operations) {
    this.token = lease.token;
    this.form = form;
    this.span = 1000 * lease.seconds;
    this.items = lease.items;
    this.answers = new Map();
    for (const item of lease.items) {
      this.answers.set(item.id, item.code ? { code: item.code, details: item.details } : null);
    }
    // Operations that the server has not stored yet.
    for (const one of operations) this.take(one);
    this.pages = form.layout === "grid" ? grouped(lease.items) : lease.items.map((item) => [item]);
  }

  take({ kind, token, item, code, details }) {
    if (token !== this.token || !this.answers.has(item)) return false;
    this.answers.set(item, kind === "answer" ? { code, details } : null);
    return true;
  }

  answer(item) {
    return this.answers.get(item.id);
  }

  pageDone(page) {
    return this.pages[page].every((item) => isComplete(this.form, this.answer(item)));
  }

  // The first unfinished page, from a page on and then from the start; -1 if all are finished.
  open(from = 0) {
    const order = [...this.pages.keys()];
    const found = [...order.slice(from), ...order.slice(0, from)].find((page) => !this.pageDone(page));
    return found ?? -1;
  }

  get left() {
    return this.pages.filter((_, page) => !this.pageDone(page)).length;
  }
}

function grouped(items) {
  const groups = new Map();
  for (const item of items) {
    if (!groups.has(item.group)) groups.set(item.group, []);
    groups.get(item.group).push(item);
  }
  return [...groups.values()];
}
