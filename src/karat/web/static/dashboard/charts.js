// Small charts of rectangles, lines and texts; the colours come from the style sheet.
import { draw } from "../dom.js";
import { decimal, percent, whole } from "./words.js";

// One bar in parts: [{name, value, kind}].
export function stacked(parts) {
  const total = parts.reduce((sum, part) => sum + part.value, 0) || 1;
  const said = parts.map((part) => `${part.name} ${whole(part.value)}`).join(", ");
  const svg = draw("svg", { viewBox: "0 0 400 64", width: 400, height: 64, class: "stacked", role: "img", "aria-label": said });
  let at = 0;
  parts.forEach((part, number) => {
    const width = (400 * part.value) / total;
    svg.append(draw("rect", { x: at, y: 0, width: Math.max(0, width - 1), height: 26, class: `fill ${part.kind}` }));
    at += width;
    const x = (400 / parts.length) * number;
    svg.append(draw("rect", { x, y: 44, width: 10, height: 10, class: `fill ${part.kind}` }));
    svg.append(draw("text", { x: x + 15, y: 53 }, `${part.name} ${whole(part.value)}`));
  });
  return svg;
}

// Bars over time, oldest first.
export function bars(values, said, labels) {
  const most = Math.max(1, ...values);
  const width = 400 / values.length;
  const svg = draw("svg", { viewBox: "0 0 400 120", width: 400, height: 120, class: "bars", role: "img", "aria-label": said });
  values.forEach((value, at) => {
    const height = (84 * value) / most;
    svg.append(draw("rect", { x: at * width + 1, y: 96 - height, width: width - 2, height, class: "fill first" }));
  });
  svg.append(draw("line", { x1: 0, x2: 400, y1: 96.5, y2: 96.5, class: "axis" }));
  svg.append(draw("text", { x: 0, y: 8 }, whole(Math.max(0, ...values))));
  svg.append(draw("text", { x: 0, y: 113 }, labels[0]), draw("text", { x: 400, y: 113, class: "end" }, labels[1]));
  return svg;
}

// A value and its interval on a scale from `from` to 1.
export function interval(value, low, high, from = 0, mark = null) {
  if (value === null || value === undefined) return "–";
  const place = (number) => 2 + 96 * ((Math.min(1, Math.max(from, number)) - from) / (1 - from));
  const svg = draw("svg", { viewBox: "0 0 100 16", class: "interval", "aria-hidden": "true" });
  svg.append(draw("line", { x1: 2, x2: 98, y1: 8, y2: 8, class: "axis" }));
  if (mark !== null) svg.append(draw("line", { x1: place(mark), x2: place(mark), y1: 1, y2: 15, class: "mark" }));
  if (low !== null && high !== null) svg.append(draw("line", { x1: place(low), x2: place(high), y1: 8, y2: 8, class: "span" }));
  svg.append(draw("circle", { cx: place(value), cy: 8, r: 3.5, class: "dot" }));
  return svg;
}

// Models by ranks: each cell is filled by its share of judged pairs.
export function grid(systems) {
  const ranks = Math.max(...systems.map((record) => record.ranks.length), 0);
  const [left, cell, row] = [150, 30, 22];
  const height = 20 + systems.length * row;
  const said = systems.map((record) => `${record.system}: ${whole(record.judged)} of ${whole(record.pairs)} pairs judged`).join("; ");
  const width = left + ranks * cell + 90;
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "grid", role: "img", "aria-label": said });
  svg.append(draw("text", { x: left - 8, y: 12, class: "end" }, "rank"));
  for (let rank = 1; rank <= ranks; rank += ranks > 15 ? 5 : 1) {
    svg.append(draw("text", { x: left + (rank - 0.5) * cell, y: 12, class: "middle" }, String(rank)));
  }
  systems.forEach((record, at) => {
    const y = 20 + at * row;
    const name = record.system.length > 20 ? `${record.system.slice(0, 19)}…` : record.system;
    svg.append(draw("text", { x: left - 8, y: y + 14, class: "end" }, name));
    record.ranks.forEach((place) => {
      const x = left + (place.rank - 1) * cell;
      const share = place.places ? place.judged / place.places : 0;
      svg.append(draw("rect", { x: x + 1, y: y + 1, width: cell - 2, height: row - 3, class: "fill open" }));
      svg.append(draw("rect", { x: x + 1, y: y + 1, width: (cell - 2) * share, height: row - 3, class: "fill first" }));
    });
    svg.append(draw("text", { x: left + ranks * cell + 8, y: y + 14 }, `${percent(record.pairs ? record.judged / record.pairs : null)} judged`));
  });
  return svg;
}

export const withEnds = (record) => (record.low === null || record.low === undefined ? "" : `${decimal(record.low)} to ${decimal(record.high)}`);
