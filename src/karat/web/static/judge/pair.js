// One image and one caption at a time: a key or click answers, and the next pair appears.
import { figures } from "./figures.js";
import { key, make, written } from "../dom.js";
import { clean, lacking, questions, toggled, withDetail } from "./form.js";
import { Questions } from "./questions.js";

export class PairPage {
  constructor(judge, items) {
    this.judge = judge;
    this.form = judge.form;
    [this.item] = items;
    this.questions = new Questions(this.form, {
      choose: (question, code) => this.toggle(question, code),
      write: (question, text) => this.give(withDetail(this.form, this.answer, question, text)),
    });
    this.buttons = this.form.answers.map((one) => this.button(one));
    const answers = make("div", { class: "answers", role: "group", "aria-labelledby": "question" }, this.buttons);
    if (this.buttons.length > 6) answers.classList.add("many");
    this.next = make("button", { type: "button", class: "main next", on: { click: () => this.confirm() } }, "Continue", key("Enter"));
    const asks = make(
      "div", { class: "asks" },
      written("blockquote", this.item.caption, { class: "caption", id: "caption" }),
      written("h2", this.form.question, { id: "question" }), answers, this.questions.element, this.next,
    );
    this.element = make("div", { class: "page pair" }, figures(items), asks);
    this.update();
  }

  button(one) {
    const attributes = { type: "button", class: "answer", "aria-keyshortcuts": one.key || null };
    const made = make("button", attributes, key(one.key), written("span", one.text));
    made.addEventListener("click", () => this.choose(one.code));
    return made;
  }

  get answer() {
    return this.judge.task.answer(this.item);
  }

  give(answer) {
    this.judge.give([{ item: this.item, after: answer }]);
  }

  choose(code) {
    this.give({ code, details: clean(this.form, code, this.answer?.details ?? {}) });
    // Without further questions the pair is finished.
    if (!questions(this.form, this.answer).length) this.judge.advance();
    else this.lead();
  }

  // Show the first question; a text field gets the focus.
  lead() {
    const asked = questions(this.form, this.answer);
    const first = asked[0];
    if (first.kind === "text") this.questions.focus(first);
    else this.questions.parts.find((one) => one.question === first).holder.scrollIntoView({ block: "nearest" });
  }

  toggle(question, code) {
    this.give(toggled(this.form, this.answer, question, code));
    const asked = questions(this.form, this.answer);
    // If every question takes a single choice, the last choice finishes the pair.
    if (asked.every((one) => one.kind === "one" && this.answer.details[one.code])) this.judge.advance();
  }

  confirm() {
    this.questions.flush();
    if (!this.answer) return this.judge.say("Choose an answer first.");
    const missing = lacking(this.form, this.answer);
    if (!missing) return this.judge.advance();
    this.questions.focus(missing);
    return this.judge.say(`Please answer: ${missing.text}`);
  }

  press(name) {
    const answer = this.form.answers.find((one) => one.key === name);
    if (answer) {
      this.choose(answer.code);
      return true;
    }
    const choice = this.questions.choiceOf(name);
    if (choice) this.toggle(choice.question, choice.code);
    return Boolean(choice);
  }

  update() {
    this.form.answers.forEach((one, at) => {
      this.buttons[at].setAttribute("aria-pressed", String(this.answer?.code === one.code));
    });
    this.questions.update(this.answer);
    this.next.hidden = !this.answer;
  }

  leave() {
    this.questions.flush();
  }

  focus() {
    document.getElementById("card").focus({ preventScroll: true });
  }
}
