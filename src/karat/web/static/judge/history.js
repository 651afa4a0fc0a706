// Undo and redo. A step is the effect of one key: the answers before and after, and their page.

const MOST = 200;

export class History {
  constructor(keep) {
    this.keep = keep;
    const found = keep.get("history");
    this.done = found?.done ?? [];
    this.undone = found?.undone ?? [];
  }

  push(step) {
    this.done = [...this.done, step].slice(-MOST);
    this.undone = [];
    this.save();
  }

  // The annotator continues: redoing the last step will continue too. With `whole`, all changes of this visit
  // become one step, so that one undo leads back to the pair.
  seal(token, page, whole) {
    const from = this.done.findLastIndex((one) => one.token !== token || one.page !== page || one.sealed) + 1;
    const visit = this.done.slice(whole ? from : Math.max(from, this.done.length - 1));
    if (!visit.length) return;
    const changes = new Map();
    for (const change of visit.flatMap((one) => one.changes)) {
      const before = changes.has(change.item) ? changes.get(change.item).before : change.before;
      changes.set(change.item, { ...change, before });
    }
    this.done = [...this.done.slice(0, -visit.length), { token, page, changes: [...changes.values()], sealed: true }];
    this.save();
  }

  last() {
    return this.done.at(-1);
  }

  next() {
    return this.undone.at(-1);
  }

  // Move a step from one list to the other, after undo or redo.
  undo() {
    this.undone = [...this.undone, this.done.at(-1)];
    this.done = this.done.slice(0, -1);
    this.save();
  }

  redo() {
    this.done = [...this.done, this.undone.at(-1)];
    this.undone = this.undone.slice(0, -1);
    this.save();
  }

  // Steps of a submitted or lost task can no longer be changed.
  drop(token) {
    this.done = this.done.filter((one) => one.token !== token);
    this.undone = this.undone.filter((one) => one.token !== token);
    this.save();
  }

  save() {
    this.keep.set("history", { done: this.done, undone: this.undone });
  }
}
