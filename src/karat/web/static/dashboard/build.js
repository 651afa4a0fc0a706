// Tables. Texts are always inserted as text.
import { make } from "../dom.js";

// Heads are texts; a row is a list of cells, the first of which is its header. A cell is a text or an element.
export function table(element, heads, rows, empty = "Nothing yet.") {
  if (!rows.length) {
    element.replaceChildren(make("tbody", {}, make("tr", {}, make("td", { class: "empty" }, empty))));
    return;
  }
  const head = make("thead", {}, make("tr", {}, heads.map((text) => make("th", { scope: "col" }, text))));
  const body = make("tbody", {}, rows.map((cells) => make("tr", {}, cells.map((cell, at) => {
    const inside = typeof cell === "string" ? make("bdi", {}, cell) : cell;
    // On a phone, where the head is hidden, each cell shows its label.
    return at ? make("td", { "data-label": heads[at], class: cell === "" ? "none" : null }, inside) : make("th", { scope: "row", "data-label": heads[0] }, inside);
  }))));
  element.replaceChildren(head, body);
}

// A chart, and the same numbers as a table.
export function beside(chart, place, heads, rows) {
  const wasOpen = place.querySelector("details")?.open ?? false;
  const inside = make("table", { class: "numbers" });
  table(inside, heads, rows);
  const details = make("details", { class: "as-table" }, make("summary", {}, "Show as a table"), make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "The same numbers as a table" }, inside));
  details.open = wasOpen;
  place.replaceChildren(chart, details);
}

// The kind of an annotator who is not a person.
const KINDS = { machine: "machine judge" };
export function kindTag(kind) {
  return kind === "person" ? "" : make("span", { class: "tag" }, KINDS[kind] ?? kind);
}
