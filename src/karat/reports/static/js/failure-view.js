// One failure: the query, two pictures with boxes, metrics, and the matching of concepts.

import { foldable, isolated, make } from "./dom.js";
import { metricOf, shownMetric } from "./failure-order.js";

const NO_PATH = 255;

function stretch(starts, at) {
  return at < starts.length - 1 ? [starts[at], starts[at + 1]] : [0, 0];
}

function boxesOf(state, image) {
  const { objects, starts } = state.names;
  if (!objects) return [];
  const [begin, end] = stretch(starts.objects, image);
  const boxes = [];
  for (let k = begin; k < end; k += 1) {
    const corners = state.names.arrays[objects.corners].subarray(4 * k, 4 * k + 4);
    boxes.push({ category: state.names.arrays[objects.category][k], corners });
  }
  return boxes;
}

function area({ corners }) {
  return (corners[2] - corners[0]) * (corners[3] - corners[1]);
}

function boxElement(state, box, common, label) {
  const element = make("span", { class: `thing-box ${common ? "both" : "one"}` }, label ? make("span", { class: "tag" }, isolated(label)) : null);
  const [left, top, right, bottom] = [...box.corners].map((value) => (100 * value) / state.names.grid);
  Object.assign(element.style, { left: `${left}%`, top: `${top}%`, width: `${right - left}%`, height: `${bottom - top}%` });
  // A tag at the upper edge would be cut off, were it above its box.
  if (top < 9) element.classList.add("high");
  if (left > 60) element.classList.add("far");
  return element;
}

function boxes(state, image, other) {
  const theirs = new Set(boxesOf(state, other).map((box) => box.category));
  const mine = boxesOf(state, image).sort((a, b) => area(b) - area(a));
  const times = new Map();
  for (const box of mine) times.set(box.category, (times.get(box.category) ?? 0) + 1);
  const named = new Set();
  const elements = mine.map((box) => {
    const name = state.names.categories[box.category];
    // The largest box of a category has its name and number.
    const label = named.has(box.category) ? "" : times.get(box.category) > 1 ? `${name} ×${times.get(box.category)}` : name;
    named.add(box.category);
    return boxElement(state, box, theirs.has(box.category), label);
  });
  const words = [...times].map(([category, n]) => `${n} ${state.names.categories[category]}`).join(", ");
  return { elements, words };
}

// Names that would cover each other go below each other.
export function spreadTags(layer) {
  const placed = [];
  for (const tag of layer.querySelectorAll(".tag")) {
    tag.style.transform = "";
    let box = tag.getBoundingClientRect();
    let down = 0;
    for (let tries = 0; tries < placed.length; tries += 1) {
      const other = placed.find((one) => box.left < one.right && box.right > one.left && box.top + down < one.bottom && box.bottom + down > one.top);
      if (!other) break;
      down = other.bottom - box.top + 1;
    }
    if (down) tag.style.transform = `translateY(${down}px)`;
    box = tag.getBoundingClientRect();
    placed.push(box);
  }
}

function frame(state, image, other) {
  const known = state.names.pictures;
  const small = known?.inline[image];
  const link = known?.links[image];
  const drawn = boxes(state, image, other);
  const label = drawn.words ? `Boxes: ${drawn.words}` : `${state.names.sides[0].head} ${state.names.images[image]}`;
  const holder = make("div", { class: "frame-box bare", role: "img", "aria-label": label }, make("span", { class: "layer" }, drawn.elements));
  const note = make("p", { class: "note small" }, drawn.elements.length ? "No picture at hand: boxes in a frame of 4:3." : "No picture and no boxes at hand.");
  if (small || link) {
    const picture = make("img", { alt: "", src: small ? `data:image/webp;base64,${small}` : link, decoding: "async" });
    picture.addEventListener("load", () => spreadTags(holder.querySelector(".layer")));
    picture.addEventListener("error", () => { picture.remove(); holder.classList.add("bare"); note.hidden = false; });
    holder.classList.remove("bare");
    holder.prepend(picture);
    note.hidden = true;
  }
  return [holder, note];
}

function captionsOf(state, image, marked) {
  const { names } = state;
  if (!names.texts) return null;
  const [begin, end] = stretch(names.starts.captions, image);
  const rows = [...names.byImage.subarray(begin, end)];
  if (!rows.length) return null;
  const list = make("ul", { class: "of-image" }, rows.map((k) => make("li", { class: k === marked ? "asked" : "" }, foldable(names.texts[k], 200))));
  const details = make("details", { class: "text" }, make("summary", {}, rows.length === 1 ? `Its ${names.sides[1].one}` : `Its ${rows.length} ${names.sides[1].many}`), list);
  details.open = state.captionsOpen;
  details.addEventListener("toggle", () => {
    if (details.open === state.captionsOpen) return;
    state.captionsOpen = details.open;
    for (const each of details.closest(".failure")?.querySelectorAll(".sides details") ?? []) each.open = state.captionsOpen;
  });
  return details;
}

function side(state, heading, image, other, marked, text) {
  const id = state.names.images[image];
  return make("figure", { class: "side" }, make("figcaption", {}, make("span", { class: "head" }, heading), " ", make("span", { class: "id" }, id === undefined ? "unknown" : foldable(id, 60))),
    text ? make("p", { class: "said" }, foldable(text, 240)) : null, frame(state, image, other), captionsOf(state, image, marked));
}

function conceptsOf(state, image) {
  const { concepts, starts, arrays } = state.names;
  const [begin, end] = stretch(starts.concepts, image);
  const found = new Map();
  for (let k = begin; k < end; k += 1) found.set(arrays[concepts.concept][k], arrays[concepts.count][k]);
  return found;
}

function concept(state, number, count) {
  const shown = state.names.concepts.counted && count !== undefined ? ` ×${count}` : "";
  return make("span", { class: "concept", title: state.names.synsets[number] }, isolated(state.names.concepts.words[number]), shown);
}

function link(text, strength, kind) {
  const line = make("span", { class: "line", "aria-hidden": "true" });
  line.style.height = `${1 + Math.round(5 * strength)}px`;
  const again = line.cloneNode();
  return make("span", { class: `link ${kind}` }, line, make("span", { class: "value" }, text), again);
}

// Concepts of the ground truth to the left, of what came to the right, a line for each matched pair.
function matching(state, row) {
  const { table, arrays } = state;
  const ground = conceptsOf(state, arrays[table.ground_image][row]);
  const retrieved = conceptsOf(state, arrays[table.retrieved_image][row]);
  const [begin, end] = stretch(state.pairStarts, row);
  const rows = [];
  const counted = state.names.concepts.counted;
  const add = (kind, left, middle, right) => rows.push(make("li", { class: kind }, left ?? make("span", { class: "concept none" }, "nothing left"), middle, right ?? make("span", { class: "concept none" }, "nothing left")));
  for (const [number, n] of ground) {
    if (!retrieved.has(number)) continue;
    const m = retrieved.get(number);
    add("both", concept(state, number, n), link(!counted || n === m ? "same" : `${Math.abs(n - m)} apart`, 1, "both"), concept(state, number, m));
  }
  const used = [new Set(), new Set()];
  const pairs = [];
  for (let k = begin; k < end; k += 1) {
    const [g, r, steps] = [table.pairs.ground, table.pairs.retrieved, table.pairs.steps].map((at) => arrays[at][k]);
    pairs.push([g, r, steps === NO_PATH ? 0 : 1 / (1 + steps)]);
    used[0].add(g);
    used[1].add(r);
  }
  pairs.sort((a, b) => b[2] - a[2]);
  for (const [g, r, weight] of pairs) add("pair", concept(state, g, ground.get(g)), link(weight.toFixed(3), weight, "pair"), concept(state, r, retrieved.get(r)));
  const spare = (kind) => link("no partner", 0, kind);
  for (const [number, n] of ground) if (!retrieved.has(number) && !used[0].has(number)) add("spare", concept(state, number, n), spare("spare"), null);
  for (const [number, n] of retrieved) if (!ground.has(number) && !used[1].has(number)) add("spare", null, spare("spare"), concept(state, number, n));
  const head = make("p", { class: "match-head", "aria-hidden": "true" }, make("span", {}, "Should have come"), make("span", {}, "path similarity"), make("span", {}, "Came"));
  if (!rows.length) return make("p", { class: "note" }, "Neither image has a known concept.");
  return make("div", { class: "matching" }, head, make("ul", { "aria-label": "Concepts of both images, matched" }, rows));
}

// The letters that the list and the tables use.
function titled(all, title) {
  const { short } = all.find((one) => one.title === title);
  return /^[A-Z]+$/.test(short) ? `${title} (${short})` : title;
}

function metrics(state, row) {
  const all = state.table.metrics;
  const cell = (k) => (k < 0 ? make("td", {}) : make("td", { class: k === state.sort ? "chosen" : "" }, shownMetric(metricOf(state, k)[row], all[k].unit)));
  const informed = all.some((one) => one.informed);
  const titles = [...new Set(all.map((one) => one.title))];
  const rows = titles.map((title) => make("tr", {}, make("th", { scope: "row" }, titled(all, title)), [false, ...(informed ? [true] : [])].map((which) => cell(all.findIndex((one) => one.title === title && one.informed === which)))));
  const head = informed ? make("thead", {}, make("tr", {}, make("td", {}), make("th", { scope: "col" }, "all"), make("th", { scope: "col" }, "query's"))) : null;
  return make("table", { class: "metrics" }, head, make("tbody", {}, rows));
}

function marks(state, row) {
  const found = state.table.marks.filter((one) => state.arrays[one.array][row]);
  const inside = state.table.slices.filter((one) => state.arrays[one.array][row]);
  if (!found.length && !inside.length) return null;
  return make("ul", { class: "marks" }, found.map((one) => make("li", { class: "fault", title: one.about }, one.title)), inside.slice(0, 12).map((one) => make("li", {}, isolated(one.title))),
    inside.length > 12 ? make("li", {}, `${inside.length - 12} more slices`) : null);
}

export function failureView(state, row) {
  const { table, arrays, names } = state;
  const at = (name) => arrays[table[name]][row];
  const text = table.asks === 1;
  const { head } = names.sides[table.asks];
  const query = at("query");
  const place = at("ground_rank");
  const where = place ? `Ground truth at rank ${place.toLocaleString("en")}` : "Ground truth not in the list";
  const asked = text ? make("p", { class: "asked-for" }, foldable(names.texts?.[query] || names.captions[query])) : make("p", { class: "asked-for" }, `${head} `, isolated(names.images[query]));
  const link_ = make("a", { class: "permalink", href: `#failure-${state.chosen + 1}-${row + 1}` }, "Link to this failure");
  const about = make("p", { class: "about" }, text ? make("span", { class: "id" }, foldable(names.captions[query], 60)) : null, make("span", {}, where), make("span", {}, `retrieved at rank ${at("rank")}`), link_);
  const ground = text ? null : names.texts?.[at("ground")];
  const came = text ? null : names.texts?.[at("retrieved")];
  return make("article", { class: "failure", "aria-label": "Failure" }, make("h3", {}, head), asked, about, marks(state, row),
    make("div", { class: "sides" }, side(state, "Should have come", at("ground_image"), at("retrieved_image"), text ? query : at("ground"), ground),
      side(state, "Came", at("retrieved_image"), at("ground_image"), text ? -1 : at("retrieved"), came)),
    make("div", { class: "why" }, make("div", {}, make("h4", {}, "Concepts"), matching(state, row)), make("div", {}, make("h4", {}, "Metrics"), metrics(state, row))));
}
