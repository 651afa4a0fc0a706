// The follow-up questions of one pair; those that are not asked are hidden.
import { key, make, written } from "../dom.js";
import { isAsked, isChosen } from "./form.js";

const PAUSE = 400;
let number = 0;

export class Questions {
  // `choose(question, code)` and `write(question, text)` are called when something is answered.
  constructor(form, calls) {
    this.calls = calls;
    this.unsaved = new Map();
    this.parts = form.follow_ups.map((question) => ({ question, ...this.part(question) }));
    this.element = make("div", { class: "questions" }, this.parts.map((one) => one.holder));
  }

  part(question) {
    number += 1;
    const name = `question-${number}`;
    const extra = question.required ? "" : make("span", { class: "optional" }, " (optional)");
    if (question.kind === "text") {
      const input = make("textarea", { id: name, rows: 2, maxlength: 10000, dir: "auto" });
      input.addEventListener("input", () => this.typed(question, input.value));
      input.addEventListener("blur", () => this.flush());
      const label = make("label", { for: name }, written("span", question.text), extra);
      const hint = make("p", { class: "hint keys-only" }, key("Enter"), " to continue, ", key("Shift+Enter"), " for a new line");
      return { holder: make("div", { class: "question", hidden: true }, label, input, hint), inputs: [input] };
    }
    const type = question.kind === "one" ? "radio" : "checkbox";
    const inputs = [];
    const labels = question.choices.map((choice) => {
      const input = make("input", { type, name, value: choice.code, "aria-keyshortcuts": choice.key || null });
      input.addEventListener("change", () => this.calls.choose(question, choice.code));
      inputs.push(input);
      return make("label", { class: "choice" }, input, written("span", choice.text), key(choice.key));
    });
    const legend = make("legend", {}, written("span", question.text), extra);
    const short = question.choices.every((choice) => choice.text.length < 30);
    const boxes = make("div", { class: short ? "choices short" : "choices" }, labels);
    return { holder: make("fieldset", { class: "question", hidden: true }, legend, boxes), inputs };
  }

  update(answer) {
    for (const { question, holder, inputs } of this.parts) {
      holder.hidden = !answer || !isAsked(question, answer.code, answer.details);
      for (const input of inputs) {
        if (question.kind === "text") {
          if (!this.unsaved.has(question)) input.value = answer?.details[question.code] ?? "";
        } else input.checked = isChosen(answer, question, input.value);
      }
    }
  }

  typed(question, text) {
    this.unsaved.set(question, text);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.flush(), PAUSE);
  }

  // Save typed text that is not saved yet.
  flush() {
    clearTimeout(this.timer);
    const unsaved = [...this.unsaved];
    this.unsaved.clear();
    for (const [question, text] of unsaved) this.calls.write(question, text);
  }

  // Move the focus to a question without an answer.
  focus(question) {
    const part = this.parts.find((one) => one.question === question);
    part.inputs[0].focus();
    part.holder.scrollIntoView({ block: "nearest" });
  }

  // The choice of a key, if its question is asked.
  choiceOf(name) {
    for (const { question, holder } of this.parts) {
      const choice = question.choices.find((one) => one.key === name);
      if (choice) return holder.hidden ? null : { question, code: choice.code };
    }
    return null;
  }
}
