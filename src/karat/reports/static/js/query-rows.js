// Rows of the table of queries, and what a row shows when it is opened.

import { foldable, isolated, make } from "./dom.js";
import { askingSide, falling, idOf, valuesOf } from "./query-order.js";

export function headRow(state, sortBy) {
  const heading = (column, text) => {
    const on = state.sort === column;
    const arrow = make("span", { class: "arrow", "aria-hidden": "true" }, on ? (falling(state) ? "▼" : "▲") : "↕");
    const button = make("button", { type: "button", class: "sort", "data-focus": `sort-${column}`, on: { click: () => sortBy(column) } }, isolated(text), " ", arrow);
    return make("th", { scope: "col", "aria-sort": on ? (falling(state) ? "descending" : "ascending") : "none" }, button);
  };
  return make("thead", {}, make("tr", {}, heading("query", askingSide(state).head), heading("count", "Right answers"),
    state.runs.map((run, k) => heading(String(k), run))));
}

export function shownValue(value, measure) {
  if (Number.isNaN(value)) return "—";
  if (value === Infinity) return "not found";
  if (measure.unit === "rank") return value.toLocaleString("en", { maximumFractionDigits: 1 });
  return `${(100 * value).toLocaleString("en", { maximumFractionDigits: 1 })}%`;
}

function tone(value, measure) {
  const good = measure.unit === "rank" ? value === 1 : value >= 0.99995;
  const bad = measure.unit === "rank" ? value > 10 : value === 0;
  return good ? "hit" : bad ? "miss" : "";
}

function picture(side, at) {
  const small = side.pictures?.inline[at];
  const link = side.pictures?.links[at];
  if (!small && !link) return null;
  const box = { alt: "", class: "thumb", height: "72" };
  return small ? make("img", { src: `data:image/webp;base64,${small}`, ...box }) : make("img", { loading: "lazy", src: link, ...box });
}

// An item of a side as a query or an answer: its text, or its name with its picture.
export function thing(side, at) {
  const id = side.ids[at];
  if (id === undefined) return make("span", {}, "nothing");
  const text = side.texts?.[at];
  return text ? foldable(text) : make("span", { class: "thing" }, picture(side, at), make("span", { class: "id" }, foldable(id, 40)));
}

export function queryRow(state, row, open) {
  const measure = state.table.measures[state.measure];
  const opened = state.open === row;
  const button = make("button", { type: "button", class: "unfold", "aria-expanded": String(opened), "data-focus": `row-${row}`,
    "aria-label": `Answers of query ${idOf(state, row)}`.slice(0, 120), on: { click: () => open(row) } }, opened ? "−" : "+");
  const query = state.arrays[state.table.query][row];
  const line = make("tr", {}, make("th", { scope: "row", class: "query" }, make("div", { class: "row" }, button, thing(askingSide(state), query))),
    make("td", {}, state.arrays[state.table.count][row].toLocaleString("en")),
    state.runs.map((_, run) => {
      const value = valuesOf(state, run)[row];
      return make("td", { class: tone(value, measure) }, shownValue(value, measure));
    }));
  return opened ? [line, detail(state, row)] : [line];
}

function rightAnswers(state, row) {
  const { count, right, listed } = state.table;
  if (right === undefined) return [];
  const counts = state.arrays[count];
  let begin = 0;
  for (let r = 0; r < row; r += 1) begin += Math.min(counts[r], listed);
  return [...state.arrays[right].subarray(begin, begin + Math.min(counts[row], listed))];
}

function detail(state, row) {
  const items = state.sides[1 - state.table.asks];
  const right = rightAnswers(state, row);
  const count = state.arrays[state.table.count][row];
  const more = count > right.length && right.length ? make("p", { class: "note" }, `and ${(count - right.length).toLocaleString("en")} more`) : null;
  const answers = make("div", {}, make("p", { class: "head" }, `Right answers (${count.toLocaleString("en")})`),
    right.length ? make("ul", { class: items.listed }, right.map((at) => make("li", {}, thing(items, at)))) : make("p", { class: "note" }, "Not listed: they follow from a rule."), more);
  const firsts = state.table.hits ? state.firsts[state.table.direction] : null;
  const query = state.arrays[state.table.query][row];
  const tops = !firsts ? null : make("div", {}, make("p", { class: "head" }, "First result of each system"),
    make("ul", { class: "tops" }, firsts.map((first, run) => {
      const at = first[query];
      const hit = state.arrays[state.table.hits[run]][row] === 1;
      return make("li", { class: hit ? "hit" : "" }, make("span", { class: "run" }, isolated(state.runs[run]), hit ? make("span", { class: "mark" }, " ✓ right") : null), thing(items, at));
    })));
  return make("tr", { class: "detail" }, make("td", { colspan: String(2 + state.runs.length) }, make("div", { class: "answers" }, answers, tops)));
}
