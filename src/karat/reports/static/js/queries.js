// The table of queries: choose labels, direction and measure; sort, filter, page. Only the visible page is
// ever built, so that 25,000 queries stay fluid.

import { listBox } from "./choosers.js";
import { watchScroll } from "./cues.js";
import { report, unpackArrays, unpackTexts } from "./data.js";
import { make } from "./dom.js";
import { headRow, queryRow } from "./query-rows.js";
import { filtered, sorted } from "./query-order.js";

const PAGE_SIZES = [10, 25, 50, 100];
const SHOWN = [
  ["all", "all queries"], ["differ", "systems disagree"], ["solved", "all systems perfect"], ["failed", "no system perfect"],
];

async function loadSides(found) {
  const [images, captions, texts] = await Promise.all([found.images, found.captions, found.texts].map(unpackTexts));
  return found.sides.map((side, k) => ({ ...side, ids: [images, captions][k], texts: side.texts ? texts : null, pictures: side.pictures ? found.thumbnails : null }));
}

export async function startQueries() {
  const found = report.queries;
  const place = document.getElementById("query-table");
  if (!found || !place) return;
  const sides = await loadSides(found);
  const loaded = new Map();
  const state = { chosen: found.tables[0], table: found.tables[0], arrays: null, measure: 0, sort: "number", down: false, words: "", show: "all",
    page: 0, size: window.innerWidth < 600 ? 10 : 25, order: new Uint32Array(0), sides, runs: found.runs, open: null, firsts: {} };
  const parts = build(place, found, state, refresh);

  async function refresh(what) {
    if (what === "table" || !state.arrays || state.chosen !== state.table) {
      // The table and its arrays change together, when they are there.
      const table = state.chosen;
      if (!loaded.has(table)) loaded.set(table, unpackArrays(table.pack));
      const arrays = await loaded.get(table);
      // Another table was chosen meanwhile, and its own answer is on its way.
      if (table !== state.chosen) return;
      state.table = table;
      state.arrays = arrays;
      state.measure = Math.min(state.measure, table.measures.length - 1);
      parts.measures(state);
    }
    if (what !== "page" && what !== "open") {
      state.page = 0;
      state.order = sorted(state, filtered(state));
    }
    if (what !== "open") state.open = null;
    else if (found.firsts[state.table.direction] && state.table.hits) {
      // First results are unpacked when somebody wants to see them.
      const { direction } = state.table;
      state.firsts[direction] ??= await unpackArrays(found.firsts[direction]);
    }
    show(parts, state, refresh, what === "sort");
  }
  await refresh("table");
  place.dataset.ready = "yes";
}

function build(place, found, state, refresh) {
  const labels = found.tables.map((table, k) => [String(k), table.key.join(", ")]);
  const which = listBox("Labels and direction", labels, "0", (value) => { state.chosen = found.tables[Number(value)]; refresh("table"); });
  const measure = listBox("Value", [], "", (value) => { state.measure = Number(value); refresh("measure"); });
  const show = listBox("Show", SHOWN, "all", (value) => { state.show = value; refresh("filter"); });
  const size = listBox("Rows", PAGE_SIZES.map((n) => [String(n), String(n)]), String(state.size), (value) => { state.size = Number(value); state.page = 0; refresh("page"); });
  const words = make("input", { id: "query-words", type: "search", autocomplete: "off", dir: "auto", placeholder: "words or an id" });
  let timer = 0;
  words.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => { state.words = words.value; refresh("filter"); }, 150); });
  const search = make("div", { class: "field" }, make("label", { for: "query-words" }, "Filter"), words);
  const status = make("p", { class: "status", role: "status" });
  const table = make("table", { class: "numbers queries" });
  const scroll = make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table: queries" }, table);
  watchScroll(scroll);
  const button = (text, label, step) => {
    const made = make("button", { type: "button", "aria-label": label }, text);
    made.addEventListener("click", () => {
      if (made.getAttribute("aria-disabled") === "true") return;
      state.page = step(state.page);
      refresh("page");
    });
    return made;
  };
  const pages = (state_) => Math.max(1, Math.ceil(state_.order.length / state_.size));
  const buttons = [
    button("«", "First page", () => 0), button("‹ Previous", "Previous page", (page) => Math.max(0, page - 1)),
    button("Next ›", "Next page", (page) => Math.min(pages(state) - 1, page + 1)), button("»", "Last page", () => pages(state) - 1),
  ];
  const where = make("span", { class: "where" });
  const pager = make("nav", { class: "pager", "aria-label": "Pages of queries" }, buttons[0], buttons[1], where, buttons[2], buttons[3]);
  place.replaceChildren(make("div", { class: "choosers" }, which.box, measure.box, show.box, search, size.box), status, scroll, pager);
  const measures = (now) => {
    measure.select.replaceChildren(...now.table.measures.map((one, k) => make("option", { value: String(k) }, one.name)));
    measure.select.value = String(now.measure);
  };
  return { table, status, where, buttons, pages, measures };
}

function show(parts, state, refresh, keepFocus) {
  const pages = parts.pages(state);
  const begin = state.page * state.size;
  const rows = state.order.subarray(begin, begin + state.size);
  const total = state.table.rows;
  parts.status.textContent = state.order.length === total ? `${total.toLocaleString("en")} queries` : `${state.order.length.toLocaleString("en")} of ${total.toLocaleString("en")} queries`;
  parts.where.textContent = `Page ${(state.page + 1).toLocaleString("en")} of ${pages.toLocaleString("en")}`;
  // Not `disabled`: a button that was pressed keeps the focus on the last page.
  parts.buttons.forEach((button, k) => { button.setAttribute("aria-disabled", String(k < 2 ? state.page === 0 : state.page >= pages - 1)); });
  const sortBy = (column) => {
    state.down = state.sort === column ? !state.down : column !== "number" && column !== "query";
    state.sort = column;
    refresh("sort");
  };
  const open = (row) => { state.open = state.open === row ? null : row; refresh("open"); };
  const body = make("tbody");
  for (const row of rows) body.append(...queryRow(state, row, open));
  if (!rows.length) body.append(make("tr", {}, make("td", { colspan: String(3 + state.runs.length) }, "No query matches the filter.")));
  const focused = keepFocus || document.activeElement?.closest("table") === parts.table ? document.activeElement?.dataset.focus : null;
  parts.table.replaceChildren(make("caption", {}, `${state.table.measures[state.measure].name} of every system`), headRow(state, sortBy), body);
  if (focused) parts.table.querySelector(`[data-focus="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}
