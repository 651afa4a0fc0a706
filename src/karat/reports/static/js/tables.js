// Tables from plain data, the same as the page's templates make them.

import { watchScroll } from "./cues.js";
import { make, isolated } from "./dom.js";

const MARKS = { first: "beaten by none", best: "best" };

function mark(meaning) {
  return [make("span", { class: "mark", "aria-hidden": "true" }, "● "), make("span", { class: "unseen" }, `${meaning}: `)];
}

// What is below a value; on a phone, or with many columns, one part below the other.
function below(text) {
  const bits = text.split(" · ").map((bit) => make("bdi", { class: "bit" }, bit));
  return make("span", { class: "below" }, bits.flatMap((bit, k) => (k ? [make("span", { class: "dot" }, " · "), bit] : [bit])));
}

// Who wins, as a sign and in words; of many systems the sign is all that a cell shows.
const VERDICTS = { win: ["▲", "beats"], loss: ["▼", "is beaten by"], open: ["·", "not separated from"] };

function verdict(cell) {
  const [sign, words] = VERDICTS[cell.c];
  const alone = cell.t === sign;
  return [
    make("span", { class: "unseen" }, alone ? words : `${words}: `),
    make("span", { "aria-hidden": "true" }, alone ? sign : `${sign} `),
    ...(alone ? [] : [isolated(cell.t)]),
  ];
}

function filled(element, cell) {
  if (typeof cell === "string") {
    element.append(isolated(cell));
    return element;
  }
  if (cell.c) element.classList.add(cell.c);
  if (MARKS[cell.c]) element.append(...mark(MARKS[cell.c]));
  if (VERDICTS[cell.c]) element.append(...verdict(cell));
  else element.append(isolated(cell.t));
  if (cell.s) element.append(below(cell.s));
  return element;
}

export function tableOf(data, kind) {
  const head = data.head.map((text) => (text ? make("th", { scope: "col" }, isolated(text)) : make("td")));
  const rows = data.rows.map((row) => make("tr", {},
    filled(make("th", { scope: "row" }), row[0]),
    row.slice(1).map((cell) => filled(make("td"), cell))));
  const table = make("table", { class: kind },
    make("caption", {}, isolated(data.caption)),
    make("thead", {}, make("tr", {}, head)),
    make("tbody", {}, rows));
  const box = make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Table: ${data.caption}` }, table);
  watchScroll(box);
  return box;
}

export function showTable(name, data) {
  const holder = document.querySelector(`[data-table="${name}"]`);
  holder.replaceChildren(tableOf(data, holder.dataset.kind));
}
