// The guidelines with examples and the list of keys, in a pane beside the task.
import { $, key, make, written } from "../dom.js";

const KEYS = [
  ["U", "Undo the last answer"], ["Shift+U", "Redo it"], ["N", "Next, without answering"],
  ["P", "Previous"], ["Enter", "Continue"], ["Z", "Enlarge the image"], ["H", "Show or hide these guidelines"],
  ["?", "Show this list of keys"],
];
const REGION_KEY = ["O", "Show or hide the outline"];
const BEHIND = ["strip", "card"];

export class Guide {
  constructor(form, keep) {
    this.keep = keep;
    this.pane = $("guide");
    this.button = $("guide-button");
    this.button.addEventListener("click", () => this.toggle());
    $("guide-close").addEventListener("click", () => this.close());
    this.pane.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.close();
    });
    $("guide-text").replaceChildren(
      ...form.guidelines.map((text) => written("p", text)),
      ...(form.examples.length ? [make("h3", {}, "Examples"), make("ul", { class: "examples" }, form.examples.map(example))] : []),
      make("div", { class: "keys-only" }, make("h3", { id: "keys", tabindex: -1 }, "Keys"), keys(form)),
    );
    // A new annotator reads the guidelines first.
    if (keep.get("guide") !== "closed") this.open(false);
  }

  // Whether the pane covers the page, as on small screens.
  get covers() {
    return this.isOpen && window.matchMedia("(max-width: 70rem)").matches;
  }

  get isOpen() {
    return !this.pane.hidden;
  }

  open(focus = true) {
    this.pane.hidden = false;
    this.button.setAttribute("aria-expanded", "true");
    document.body.classList.add("guided");
    for (const name of BEHIND) $(name).inert = this.covers;
    this.keep.set("guide", "open");
    if (focus) $("guide-title").focus();
  }

  close() {
    this.pane.hidden = true;
    this.button.setAttribute("aria-expanded", "false");
    document.body.classList.remove("guided");
    for (const name of BEHIND) $(name).inert = false;
    this.keep.set("guide", "closed");
    this.onClose?.();
  }

  toggle() {
    if (this.isOpen) this.close();
    else this.open();
  }

  showKeys() {
    this.open(false);
    // Without a keyboard there is no list of keys.
    const place = $("keys").offsetParent ? $("keys") : $("guide-title");
    place.focus();
    place.scrollIntoView({ block: "start" });
  }
}

function example({ caption, picture, answer, why }) {
  return make(
    "li", {}, written("blockquote", caption),
    make("p", {}, make("b", {}, "Image: "), written("span", picture)),
    make("p", {}, make("b", {}, "Answer: "), written("span", answer)), why ? written("p", why, { class: "why" }) : "",
  );
}

function keys(form) {
  const listed = form.regions ? [...KEYS, REGION_KEY] : KEYS;
  return make("dl", { class: "keys" }, listed.map(([name, told]) => make("div", {}, make("dt", {}, make("kbd", {}, name)), make("dd", {}, told))));
}
