// Elements. Texts are always inserted as text: no data is parsed as HTML. `make` is that of the report's pages.
import { make } from "./js/dom.js";

export const $ = (id) => document.getElementById(id);

export { make };

const SVG = "http://www.w3.org/2000/svg";

export function draw(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  element.append(...children);
  return element;
}

// Captions and texts of forms, isolated: right-to-left text must not affect its neighbours.
export function written(tag, text, attributes = {}) {
  return make(tag, { dir: "auto", ...attributes }, String(text));
}

export function key(name) {
  return name ? make("kbd", { "aria-hidden": "true" }, name.length === 1 ? name.toUpperCase() : name) : "";
}

export const whole = (number) => number.toLocaleString("en");

export function plural(number, one, many = `${one}s`) {
  return `${whole(number)} ${number === 1 ? one : many}`;
}
