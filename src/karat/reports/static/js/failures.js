// The failure browser: choose a system, sort, filter, and go through failures one by one.

import { listBox } from "./choosers.js";
import { report, unpackArrays, unpackTexts } from "./data.js";
import { make } from "./dom.js";
import { failureList } from "./failure-list.js";
import { filtered, sorted } from "./failure-order.js";
import { failureView, spreadTags } from "./failure-view.js";

const ADDRESS = /^#failure-(\d+)-(\d+)$/;
const NO_FILTER = { rank: 0, metric: "", low: null, high: null, mark: "", slice: "", words: "" };

function startsOf(lengths) {
  const starts = new Uint32Array(lengths.length + 1);
  for (let k = 0; k < lengths.length; k += 1) starts[k + 1] = starts[k] + lengths[k];
  return starts;
}

// Captions in the order of their images.
function groupByImage(owner, count) {
  const lengths = new Uint32Array(count);
  for (const image of owner) if (image < count) lengths[image] += 1;
  const starts = startsOf(lengths);
  const next = starts.slice();
  const rows = new Uint32Array(starts[count]);
  owner.forEach((image, k) => { if (image < count) { rows[next[image]] = k; next[image] += 1; } });
  return { starts, rows };
}

async function loadNames(found) {
  const [images, captions, texts, words, synsets, categories] = await Promise.all(
    [found.images, found.captions, found.texts, found.concepts.names, found.concepts.synsets, found.objects?.names].map(unpackTexts));
  const arrays = await unpackArrays(found.pack);
  const grouped = groupByImage(arrays[found.owner], images.length);
  return { images, captions, texts, sides: found.sides, synsets, categories, arrays, grid: found.grid, pictures: found.thumbnails, objects: found.objects,
    concepts: { ...found.concepts, words }, byImage: grouped.rows,
    starts: { captions: grouped.starts, concepts: startsOf(arrays[found.concepts.length]), objects: found.objects ? startsOf(arrays[found.objects.length]) : null } };
}

export async function startFailures() {
  const found = report.failures;
  const place = document.getElementById("failure-browser");
  if (!found || !place) return;
  const names = await loadNames(found);
  const loaded = new Map();
  const state = { names, chosen: 0, table: null, arrays: null, pairStarts: null, sort: "", down: false, filter: { ...NO_FILTER }, order: new Uint32Array(0), at: 0,
    captionsOpen: !names.pictures };
  const parts = build(place, found, state, { column, refresh, go });

  async function column(number, row = null) {
    state.chosen = number;
    const table = found.tables[number];
    if (!loaded.has(table)) loaded.set(table, unpackArrays(table.pack));
    const arrays = await loaded.get(table);
    // Another one was chosen meanwhile.
    if (number !== state.chosen) return;
    Object.assign(state, { table, arrays, pairStarts: startsOf(arrays[table.pairs.count]), sort: "", down: false, filter: { ...NO_FILTER } });
    parts.choices(state);
    refresh(row);
  }

  // The failure that is shown stays, where it still matches.
  function refresh(row = state.order[state.at]) {
    state.order = sorted(state, filtered(state));
    state.at = Math.max(0, row === undefined || row === null ? 0 : state.order.indexOf(row));
    show();
  }

  function go(at) {
    if (!state.order.length) return;
    state.at = Math.min(state.order.length - 1, Math.max(0, at));
    show(true);
  }

  function show(moved = false) {
    const row = state.order[state.at];
    parts.show(state);
    parts.view.replaceChildren(row === undefined ? make("p", { class: "note" }, "No failure matches these filters.") : failureView(state, row));
    for (const layer of parts.view.querySelectorAll(".layer")) spreadTags(layer);
    if (moved && row !== undefined) history.replaceState(null, "", `#failure-${state.chosen + 1}-${row + 1}`);
  }

  async function follow() {
    const address = ADDRESS.exec(location.hash);
    if (!address) return false;
    const [number, row] = [Number(address[1]) - 1, Number(address[2]) - 1];
    if (number >= found.tables.length || row >= found.tables[number].rows) return false;
    await column(number, row);
    place.scrollIntoView();
    return true;
  }

  window.addEventListener("hashchange", follow);
  document.addEventListener("keydown", (event) => keys(event, state, place, parts, go));
  if (!await follow()) await column(0);
  place.dataset.ready = "yes";
}

function keys(event, state, place, parts, go) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
  const target = event.target;
  if (target.closest?.("input, select, textarea, [contenteditable]")) return;
  const seen = place.getBoundingClientRect();
  if (seen.bottom < 0 || seen.top > window.innerHeight) return;
  const inList = target === parts.list.box;
  // A table or text that scrolls sideways keeps its arrows.
  const scrolls = !inList && target.closest?.(".scroll, pre");
  const page = Math.max(1, Math.floor(parts.list.box.clientHeight / 54) - 1);
  const steps = { j: state.at + 1, k: state.at - 1, Home: 0, End: state.order.length - 1 };
  if (!scrolls) Object.assign(steps, { ArrowRight: state.at + 1, ArrowLeft: state.at - 1 });
  if (inList) Object.assign(steps, { ArrowDown: state.at + 1, ArrowUp: state.at - 1, PageDown: state.at + page, PageUp: state.at - page });
  if (event.key === "/") parts.words.focus();
  else if (event.key in steps) go(steps[event.key]);
  else return;
  event.preventDefault();
}

function numberBox(label, onChange) {
  const input = make("input", { type: "number", step: "any", inputmode: "decimal", class: "narrow" });
  let timer = 0;
  input.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => onChange(input.value.trim() === "" || Number.isNaN(input.valueAsNumber) ? null : input.valueAsNumber), 150); });
  return { box: make("div", { class: "field" }, make("label", {}, make("span", {}, label), input)), input };
}

function build(place, found, state, { column, refresh, go }) {
  const filter = (name, read = (value) => value) => (value) => { state.filter[name] = read(value); refresh(); };
  const number = (value) => (value === "" || value === "none" ? value : Number(value));
  const which = listBox("System, labels and direction", found.tables.map((table, k) => [String(k), table.key.join(", ")]), "0", (value) => column(Number(value)));
  const sort = listBox("Sort by", [], "", (value) => { state.sort = number(value); refresh(null); });
  const way = listBox("Order", [["low", "lowest first"], ["high", "highest first"]], "low", (value) => { state.down = value === "high"; refresh(null); });
  const metric = listBox("Only where", [], "", (value) => { state.filter.metric = number(value); ends(); refresh(); });
  const low = numberBox("is at least", filter("low"));
  const high = numberBox("and at most", filter("high"));
  const mark = listBox("Fault", [], "", filter("mark", number));
  const slice = listBox("Slice", [], "", filter("slice", number));
  const rank = listBox("Rank", [], "0", filter("rank", Number));
  const words = make("input", { id: "failure-words", type: "search", autocomplete: "off", dir: "auto", placeholder: "words or an id" });
  let timer = 0;
  words.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => filter("words")(words.value), 150); });
  const search = make("div", { class: "field" }, make("label", { for: "failure-words" }, "Search"), words);
  const clear = make("button", { type: "button", class: "clear", on: { click: () => { state.filter = { ...NO_FILTER }; state.sort = ""; choices(state); refresh(); } } }, "Clear filters");
  const status = make("p", { class: "status", role: "status" });
  const list = failureList(state, go);
  const view = make("div", { class: "failure-view" });
  const button = (text, label, step) => make("button", { type: "button", "aria-label": label, on: { click: () => go(step()) } }, text);
  const buttons = [button("«", "First failure", () => 0), button("‹ Previous", "Previous failure", () => state.at - 1),
    button("Next ›", "Next failure", () => state.at + 1), button("»", "Last failure", () => state.order.length - 1)];
  const where = make("span", { class: "where" });
  const pager = make("nav", { class: "pager", "aria-label": "Failures" }, buttons[0], buttons[1], where, buttons[2], buttons[3]);
  const filters = make("details", { class: "filters" }, make("summary", {}, "Sort and filter"), make("div", { class: "choosers" }, sort.box, way.box, metric.box, low.box, high.box, mark.box, slice.box, rank.box, clear));
  filters.open = window.innerWidth >= 600;
  place.replaceChildren(make("div", { class: "choosers" }, found.tables.length > 1 ? which.box : null, search), filters,
    make("div", { class: "failure-browser" }, make("div", { class: "failure-side" }, status, list.box), make("div", {}, pager, view)));

  function ends() {
    for (const each of [low, high]) each.input.disabled = state.filter.metric === "";
  }

  function fill(select, options, value) {
    select.replaceChildren(...options.map(([key, text]) => make("option", { value: key, dir: "auto" }, text)));
    select.value = value;
  }

  function choices(now) {
    const { metrics, marks, slices, ranks } = now.table;
    const titleOf = (one) => (one.informed ? `${one.title}, query-informed` : one.title);
    const titles = metrics.map((one, k) => [String(k), titleOf(one)]);
    which.select.value = String(now.chosen);
    fill(sort.select, [["", "order of the queries"], ...titles], "");
    way.select.value = "low";
    now.down = false;
    fill(metric.select, [["", "any metric"], ...metrics.map((one, k) => [String(k), one.unit ? `${titleOf(one)} (${one.unit})` : titleOf(one)])], "");
    fill(mark.select, [["", "any"], ...marks.map((one, k) => [String(k), one.title]), ["none", "no mark: the model's"]], "");
    fill(slice.select, [["", "all"], ...slices.map((one, k) => [String(k), one.title])], "");
    fill(rank.select, [["0", "all"], ...ranks.map((one) => [String(one), String(one)])], "0");
    mark.box.hidden = !marks.length;
    slice.box.hidden = !slices.length;
    rank.box.hidden = ranks.length < 2;
    low.input.value = "";
    high.input.value = "";
    words.value = "";
    ends();
  }

  function show(now) {
    const [n, total] = [now.order.length, now.table.rows];
    const many = (value) => value.toLocaleString("en");
    const each = total === 1 ? "failure" : "failures";
    status.textContent = n === total ? `${many(total)} ${each}` : `${many(n)} of ${many(total)} ${each}`;
    where.textContent = n ? `${many(now.at + 1)} of ${many(n)}` : "none";
    buttons.forEach((one, k) => { one.setAttribute("aria-disabled", String(!n || (k < 2 ? now.at === 0 : now.at >= n - 1))); });
    list.show();
  }

  return { choices, show, view, list, words };
}
