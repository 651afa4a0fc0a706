// Elements. Texts are always inserted as text: no data is parsed as HTML.

export const $ = (id) => document.getElementById(id);

export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") for (const [event, call] of Object.entries(value)) element.addEventListener(event, call);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== "") element.append(child);
  }
  return element;
}

// Captions and texts of forms, isolated: right-to-left text must not affect its neighbours.
export function written(tag, text, attributes = {}) {
  return make(tag, { dir: "auto", ...attributes }, String(text));
}

export function key(name) {
  return name ? make("kbd", { "aria-hidden": "true" }, name.length === 1 ? name.toUpperCase() : name) : "";
}

export function count(number, one, many = `${one}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}
