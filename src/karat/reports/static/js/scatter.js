// Two metrics against each other; systems whose place changes are marked.

import { holderOf, listBox } from "./choosers.js";
import { report } from "./data.js";
import { safeName } from "./labels.js";
import { axis, plot } from "./plots.js";
import { showTable } from "./tables.js";

const FEW = 10;
const PLACES = ["top center", "bottom center", "middle right", "middle left"];

function changes(found, x, y) {
  return found.systems.map((name, s) => {
    const known = found.values[s][x] !== null && found.values[s][y] !== null;
    return { name, s, known, x: found.values[s][x], y: found.values[s][y], from: found.places[s][x], to: found.places[s][y],
      change: known ? found.places[s][x] - found.places[s][y] : 0 };
  }).filter((one) => one.known);
}

function sign(change) {
  if (change === 0) return "same place";
  return change > 0 ? `▲ ${change}` : `▼ ${-change}`;
}

// Labels go where no other point is near, as far as four places allow.
function labelPlaces(rows, share, turned) {
  const span = (values) => Math.max(...values) - Math.min(...values) || 1;
  const [w, h] = [span(rows.map((r) => r.x)), span(rows.map((r) => r.y))];
  const spots = [[0, 0.05], [0, -0.05], [0.09, 0], [-0.09, 0]];
  return rows.map((row, k) => {
    const crowd = spots.map(([dx, dy]) => rows.reduce((sum, other, j) => {
      if (j === k) return sum;
      const near = ((other.x - row.x) / w - dx) ** 2 * 1.5 + ((other.y - row.y) / h - dy) ** 2 * 6;
      return sum + 1 / (near + 0.004);
    }, 0));
    // What would leave the plot is the last choice.
    const at = (row.x - Math.min(...rows.map((r) => r.x))) / w;
    const length = share(row);
    const out = [[at - length / 2, at + length / 2], [at - length / 2, at + length / 2], [at, at + length], [at - length, at]]
      .map(([begin, end]) => (Math.max(0, -0.05 - begin) + Math.max(0, end - 1.05)) * 1e4);
    const cost = crowd.map((sum, k) => sum + out[turned ? (k < 2 ? k : 5 - k) : k]);
    return PLACES[cost.indexOf(Math.min(...cost))];
  });
}

// Of labels that would lie over each other the first one stays; hovering and the table name every system. A
// negative width or height is that of an axis that runs the other way.
function apart(rows, places, words, order, [width, height]) {
  const extent = (key) => [Math.min(...rows.map((r) => r[key])), Math.max(...rows.map((r) => r[key]))];
  const [[left, right], [bottom, top]] = [extent("x"), extent("y")];
  const taken = [];
  const texts = rows.map(() => "");
  for (const k of order) {
    const text = words(rows[k]);
    const [across, up] = [{ "middle right": 0.55, "middle left": -0.55 }[places[k]] ?? 0, { "top center": 1, "bottom center": -1 }[places[k]] ?? 0];
    const size = 6.8 * text.length;
    const x = ((rows[k].x - left) / (right - left || 1)) * width + across * size;
    const y = ((rows[k].y - bottom) / (top - bottom || 1)) * height + up * 14;
    if (taken.some((other) => Math.abs(other.x - x) < (other.size + size) / 2 && Math.abs(other.y - y) < 13)) continue;
    texts[k] = text;
    taken.push({ x, y, size });
  }
  return texts;
}

function scatterFigure(found, x, y) {
  return (colour, width) => {
    const rows = changes(found, x, y);
    const most = [...rows].sort((a, b) => Math.abs(b.change) - Math.abs(a.change)).slice(0, width < 500 ? 4 : FEW).map((row) => row.s);
    const best = rows.filter((row) => row.from === 1 || row.to === 1).map((row) => row.s);
    const labelled = (row) => rows.length <= FEW || most.includes(row.s) || best.includes(row.s);
    const words = (row) => (labelled(row) ? `${safeName(row.name, width < 500 ? 14 : 22)}${row.change ? ` ${sign(row.change)}` : ""}` : "");
    const turned = (metric) => (found.low.includes(found.metrics[metric]) ? "reversed" : undefined);
    const places = labelPlaces(rows, (r) => (6.8 * words(r).length) / (width - 90), turned(x));
    const first = rows.map((_, k) => k).sort((a, b) => best.includes(rows[b].s) - best.includes(rows[a].s) || Math.abs(rows[b].change) - Math.abs(rows[a].change));
    const height = width < 500 ? 380 : 480;
    const tone = (row) => (row.change > 0 ? colour.good : row.change < 0 ? colour.bad : colour.soft);
    const title = (metric) => safeName(found.metrics[metric], 40) + (turned(metric) ? " (low is good)" : "");
    return {
      data: [{
        type: "scatter", mode: "markers+text", x: rows.map((r) => r.x), y: rows.map((r) => r.y), hoverinfo: "text", cliponaxis: false,
        text: rows.length <= FEW ? rows.map(words) : apart(rows, places, words, first.filter((k) => words(rows[k])), [turned(x) ? 90 - width : width - 90, turned(y) ? 100 - height : height - 100]),
        textposition: places, textfont: { size: width < 500 ? 11 : 12, color: rows.map(tone) },
        hovertext: rows.map((r) => `<b>${safeName(r.name, 60)}</b><br>${safeName(found.metrics[x], 40)}: ${r.x}, place ${r.from}<br>${safeName(found.metrics[y], 40)}: ${r.y}, place ${r.to}<br>${sign(r.change)}`),
        marker: { size: 11, color: rows.map(tone), symbol: rows.map((r) => (r.change > 0 ? "triangle-up" : r.change < 0 ? "triangle-down" : "circle")) },
      }],
      height,
      label: `Scatter of “${found.metrics[x]}” and “${found.metrics[y]}”: ${rows.filter((r) => r.change).length} of ${rows.length} systems change their place.`,
      layout: {
        xaxis: axis(colour, { title: title(x), autorange: turned(x) }), yaxis: axis(colour, { title: title(y), autorange: turned(y) }),
        margin: { l: 10, r: 30, t: 24, b: 50 },
      },
    };
  };
}

function scatterTable(found, x, y) {
  const rows = changes(found, x, y).sort((a, b) => a.to - b.to);
  return {
    caption: `${found.metrics[x]} and ${found.metrics[y]}`,
    head: ["System", found.metrics[x], "Place", found.metrics[y], "Place ", "Change"],
    rows: rows.map((r) => [r.name, String(r.x), String(r.from), String(r.y), String(r.to), sign(r.change)]),
  };
}

export function startScatter() {
  const found = report.scatter;
  if (!found) return;
  let [x, y] = found.start;
  const show = () => {
    plot("scatter", scatterFigure(found, x, y));
    showTable("scatter", scatterTable(found, x, y));
  };
  const options = found.metrics.map((name, k) => [String(k), name]);
  const across = listBox("First metric (across)", options, String(x), (value) => { x = Number(value); show(); });
  const up = listBox("Second metric (upwards)", options, String(y), (value) => { y = Number(value); show(); });
  holderOf("scatter").append(across.box, up.box);
  show();
}
