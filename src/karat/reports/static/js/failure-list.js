// The list of failures: only the rows in sight exist, so that any number of them scrolls.

import { make, shorten } from "./dom.js";
import { metricOf, shownMetric } from "./failure-order.js";

const ROW = 54;
const SPARE = 4;
// Browsers place nothing beyond some ten million pixels.
const MOST_HEIGHT = 8e6;

export function titleOf(state, row) {
  const query = state.arrays[state.table.query][row];
  if (state.table.asks === 1) return state.names.texts?.[query] || state.names.captions[query];
  return state.names.images[query];
}

function below(state, row) {
  const { metrics, marks, ranks, rank } = state.table;
  const shown = [...(state.sort === "" ? [] : [state.sort]), ...metrics.map((_, k) => k).slice(0, 3)];
  const parts = [...new Set(shown)].slice(0, 3).map((k) => `${metrics[k].short} ${shownMetric(metricOf(state, k)[row], metrics[k].unit)}`);
  const found = marks.filter((one) => state.arrays[one.array][row]).map((one) => one.title);
  return [...(ranks.length > 1 ? [`rank ${state.arrays[rank][row]}`] : []), ...parts, ...found].join(" · ");
}

export function failureList(state, choose) {
  const spacer = make("div", { class: "spacer", role: "presentation" });
  const box = make("div", { class: "failure-list", role: "listbox", tabindex: "0", "aria-label": "Failures" }, spacer);
  let planned = false;

  const height = () => Math.min(MOST_HEIGHT, ROW * state.order.length);
  // How far a row is down, in pixels; of very many rows, each takes less than its height.
  const room = () => Math.max(1, ROW * state.order.length - box.clientHeight);
  const scrollable = () => Math.max(1, height() - box.clientHeight);

  function draw() {
    planned = false;
    const real = box.scrollTop * (room() / scrollable());
    const first = Math.max(0, Math.floor(real / ROW) - SPARE);
    const last = Math.min(state.order.length, Math.ceil((real + box.clientHeight) / ROW) + SPARE);
    const rows = [];
    for (let at = first; at < last; at += 1) {
      const row = state.order[at];
      const option = make("div", { class: "failure-row", role: "option", id: `failure-at-${at}`, "data-at": String(at), "aria-selected": String(at === state.at),
        "aria-posinset": String(at + 1), "aria-setsize": String(state.order.length) },
        make("span", { class: "caption", dir: "auto" }, shorten(titleOf(state, row), 120)), make("span", { class: "below", dir: "auto" }, below(state, row)));
      option.style.top = `${box.scrollTop + at * ROW - real}px`;
      rows.push(option);
    }
    spacer.style.height = `${height()}px`;
    spacer.replaceChildren(...rows);
    if (state.order.length) box.setAttribute("aria-activedescendant", `failure-at-${state.at}`);
    else box.removeAttribute("aria-activedescendant");
  }

  function show() {
    spacer.style.height = `${height()}px`;
    const real = box.scrollTop * (room() / scrollable());
    const top = state.at * ROW;
    const wanted = top < real ? top : top + ROW > real + box.clientHeight ? top + ROW - box.clientHeight : real;
    box.scrollTop = wanted * (scrollable() / room());
    draw();
  }

  box.addEventListener("scroll", () => {
    if (planned) return;
    planned = true;
    requestAnimationFrame(draw);
  });
  box.addEventListener("click", (event) => {
    const at = event.target.closest("[data-at]")?.dataset.at;
    if (at !== undefined) choose(Number(at));
  });
  return { box, show };
}
