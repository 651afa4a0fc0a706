// One image and several captions: check those that describe it; "Continue" answers the rest.
import { figures } from "./figures.js";
import { key, make, written } from "../dom.js";
import { clean, lacking, toggled, withDetail } from "./form.js";
import { Questions } from "./questions.js";

const DIGITS = "1234567890";

export class GridPage {
  constructor(judge, items) {
    this.judge = judge;
    this.form = judge.form;
    this.items = items;
    this.row = 0;
    const taken = new Set([...this.form.answers, ...this.form.follow_ups.flatMap((one) => one.choices)].map((one) => one.key));
    this.digits = [...DIGITS].filter((digit) => !taken.has(digit));
    this.rows = items.map((item, at) => this.makeRow(item, at));
    const list = make("ol", { class: "rows" }, this.rows.map((one) => one.element));
    const done = make("button", { type: "button", class: "main next", on: { click: () => this.confirm() } }, "Continue", key("Enter"));
    const group = make("fieldset", { class: "asks" }, written("legend", this.form.question, { id: "question" }), list, this.hint(), done);
    this.element = make("div", { class: "page grid" }, figures(items), group);
    this.update();
  }

  makeRow(item, at) {
    const digit = this.digits[at] ?? "";
    const box = make("input", { type: "checkbox", "aria-keyshortcuts": digit || null });
    box.addEventListener("change", () => this.set(at, box.checked ? this.form.checked : this.form.unchecked));
    box.addEventListener("focus", () => this.mark(at));
    const said = make("span", { class: "said-no" });
    const label = make("label", {}, box, key(digit), written("span", item.caption, { class: "caption" }), said);
    const asked = new Questions(this.form, {
      choose: (question, code) => this.toggle(at, question, code),
      write: (question, text) => this.give(at, withDetail(this.form, this.answer(at), question, text)),
    });
    return { item, box, said, questions: asked, element: make("li", {}, label, asked.element) };
  }

  hint() {
    const keys = this.form.answers.filter((one) => one.key).flatMap((one) => [" · ", key(one.key), " ", one.text.toLowerCase()]);
    return make("p", { class: "hint keys-only" }, key("↑"), " ", key("↓"), " move · ", key("Space"), " check or uncheck", keys);
  }

  answer(at) {
    return this.judge.task.answer(this.items[at]);
  }

  give(at, answer) {
    this.judge.give([{ item: this.items[at], after: answer }]);
  }

  set(at, code) {
    this.give(at, { code, details: clean(this.form, code, this.answer(at)?.details ?? {}) });
  }

  toggle(at, question, code) {
    this.give(at, toggled(this.form, this.answer(at), question, code));
  }

  mark(at) {
    this.row = at;
    this.rows.forEach((one, other) => one.element.classList.toggle("here", other === at));
  }

  move(by) {
    const at = Math.max(0, Math.min(this.rows.length - 1, this.row + by));
    this.rows[at].box.focus();
  }

  // Unchecked captions without an answer get the answer that they do not describe the image.
  confirm() {
    this.leave();
    const after = { code: this.form.unchecked, details: {} };
    const open = this.items.filter((item) => !this.judge.task.answer(item));
    this.judge.give(open.map((item) => ({ item, after })));
    const at = this.items.findIndex((item) => lacking(this.form, this.judge.task.answer(item)));
    if (at < 0) return this.judge.advance();
    const missing = lacking(this.form, this.answer(at));
    this.rows[at].questions.focus(missing);
    return this.judge.say(`Please answer: ${missing.text}`);
  }

  press(name) {
    if (name === "arrowdown" || name === "arrowup") {
      this.move(name === "arrowdown" ? 1 : -1);
      return true;
    }
    const digit = this.digits.indexOf(name);
    if (digit >= 0 && digit < this.rows.length) {
      const { box } = this.rows[digit];
      box.focus();
      this.set(digit, box.checked ? this.form.unchecked : this.form.checked);
      return true;
    }
    const answer = this.form.answers.find((one) => one.key === name);
    if (answer) {
      this.set(this.row, answer.code);
      if (!this.rows[this.row].questions.parts.some((one) => !one.holder.hidden)) this.move(1);
      return true;
    }
    const choice = this.rows[this.row].questions.choiceOf(name);
    if (choice) this.toggle(this.row, choice.question, choice.code);
    return Boolean(choice);
  }

  update() {
    this.rows.forEach(({ box, said, questions }, at) => {
      const answer = this.answer(at);
      box.checked = answer?.code === this.form.checked;
      said.textContent = answer?.code === this.form.unchecked ? "no" : "";
      questions.update(answer);
    });
    this.mark(this.row);
  }

  leave() {
    for (const { questions } of this.rows) questions.flush();
  }

  focus() {
    this.rows[this.row].box.focus({ preventScroll: true });
  }
}
