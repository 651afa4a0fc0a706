// An interval against the number of labels; the colours come from the style sheet.
import { draw } from "../dom.js";
import { MISSING, minus, whole } from "./words.js";

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [340, 190, 44, 12, 20, 32];
const percent = (value, digits = 1) => (value === null ? MISSING : minus(100 * value, digits));

// Round steps.
function ticks(low, high) {
  const rough = (high - low) / 5 || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + step * 1e-9; at += step) found.push(Math.abs(at) < step / 1e6 ? 0 : at);
  return found;
}

// Points: [labels, value, low, high]. Options: reach (the half-width of the goal), zero (a line at 0), budget and
// reached (numbers of labels).
export function narrowing(points, name, { reach = null, zero = false, budget = null, reached = null }) {
  // Before there is an interval, a value says little.
  const known = points.filter((point) => point[2] !== null);
  const [labels, value, low, high] = known.at(-1) ?? [0, null, null, null];
  const said = value === null ? `${name}: no interval yet`
    : `${name}: ${percent(value, 2)}, interval ${percent(low, 2)} to ${percent(high, 2)}, from ${whole(labels)} labels${reached === null ? "" : "; the goal is reached"}`;
  const svg = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT, class: "narrowing", role: "img", "aria-label": said });
  if (value === null) {
    svg.append(draw("text", { x: WIDTH / 2, y: HEIGHT / 2, class: "middle" }, "no interval yet"));
    return svg;
  }
  const lines = reach !== null ? [value - reach, value + reach] : zero ? [0] : [];
  const all = [...known.flatMap((point) => point.slice(1)), ...lines];
  let [bottom, top] = [Math.min(...all), Math.max(...all)];
  const room = Math.max((top - bottom) * 0.06, 0.002);
  [bottom, top] = [bottom - room, top + room];
  const end = Math.max(labels, budget ?? 0, 1);
  const x = (at) => LEFT + ((WIDTH - LEFT - RIGHT) * at) / end;
  const y = (at) => HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * (at - bottom)) / (top - bottom);
  const digits = top - bottom < 0.04 ? 1 : 0;
  for (const at of ticks(bottom, top)) {
    svg.append(draw("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(at), y2: y(at), class: "axis" }), draw("text", { x: LEFT - 6, y: y(at) + 4, class: "end" }, percent(at, digits)));
  }
  svg.append(draw("text", { x: LEFT, y: HEIGHT - 10 }, "0"), draw("text", { x: WIDTH - RIGHT, y: HEIGHT - 10, class: "end" }, `${whole(end)} labels`));
  const path = (list, column) => list.map((point) => `${x(point[0])},${y(point[column])}`).join(" ");
  svg.append(draw("polygon", { points: `${path(known, 2)} ${path([...known].reverse(), 3)}`, class: "band" }));
  svg.append(draw("polyline", { points: path(known, 2), class: "edge" }), draw("polyline", { points: path(known, 3), class: "edge" }));
  for (const at of lines) svg.append(draw("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(at), y2: y(at), class: "stop-line" }));
  if (budget !== null) svg.append(draw("line", { x1: x(budget), x2: x(budget), y1: TOP - 6, y2: HEIGHT - BOTTOM, class: "stop-line" }));
  svg.append(draw("polyline", { points: path(known, 1), class: "middle-line" }));
  svg.append(draw("line", { x1: x(labels), x2: x(labels), y1: y(low), y2: y(high), class: "whisker" }));
  svg.append(draw("circle", { cx: x(labels), cy: y(value), r: 4, class: "dot" }));
  if (reached !== null) {
    svg.append(draw("line", { x1: x(reached), x2: x(reached), y1: TOP - 6, y2: HEIGHT - BOTTOM, class: "reached", "data-stop": "yes" }));
    const late = x(reached) > WIDTH / 2;
    svg.append(draw("text", { x: x(reached) + (late ? -5 : 5), y: TOP - 7, class: `reached-word ${late ? "end" : ""}` }, `stop: ${whole(reached)} labels`));
  }
  return svg;
}
