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
function labelPlaces(rows) {
  const span = (values) => Math.max(...values) - Math.min(...values) || 1;
  const [w, h] = [span(rows.map((r) => r.x)), span(rows.map((r) => r.y))];
  const spots = [[0, 0.05], [0, -0.05], [0.09, 0], [-0.09, 0]];
  return rows.map((row, k) => {
    const crowd = spots.map(([dx, dy]) => rows.reduce((sum, other, j) => {
      if (j === k) return sum;
      const near = ((other.x - row.x) / w - dx) ** 2 * 1.5 + ((other.y - row.y) / h - dy) ** 2 * 6;
      return sum + 1 / (near + 0.004);
    }, 0));
    return PLACES[crowd.indexOf(Math.min(...crowd))];
  });
}

function scatterFigure(found, x, y) {
  return (colour, width) => {
    const rows = changes(found, x, y);
    const most = [...rows].sort((a, b) => Math.abs(b.change) - Math.abs(a.change)).slice(0, width < 500 ? 4 : FEW).map((row) => row.s);
    const best = rows.filter((row) => row.from === 1 || row.to === 1).map((row) => row.s);
    const labelled = (row) => rows.length <= FEW || most.includes(row.s) || best.includes(row.s);
    const tone = (row) => (row.change > 0 ? colour.good : row.change < 0 ? colour.bad : colour.soft);
    const turned = (metric) => (found.low.includes(found.metrics[metric]) ? "reversed" : undefined);
    const title = (metric) => safeName(found.metrics[metric], 40) + (turned(metric) ? " (low is good)" : "");
    return {
      data: [{
        type: "scatter", mode: "markers+text", x: rows.map((r) => r.x), y: rows.map((r) => r.y), hoverinfo: "text", cliponaxis: false,
        text: rows.map((r) => (labelled(r) ? `${safeName(r.name, width < 500 ? 12 : 22)}${r.change ? ` ${sign(r.change)}` : ""}` : "")),
        textposition: labelPlaces(rows), textfont: { size: width < 500 ? 11 : 12, color: rows.map(tone) },
        hovertext: rows.map((r) => `<b>${safeName(r.name, 60)}</b><br>${safeName(found.metrics[x], 40)}: ${r.x}, place ${r.from}<br>${safeName(found.metrics[y], 40)}: ${r.y}, place ${r.to}<br>${sign(r.change)}`),
        marker: { size: 11, color: rows.map(tone), symbol: rows.map((r) => (r.change > 0 ? "triangle-up" : r.change < 0 ? "triangle-down" : "circle")) },
      }],
      height: width < 500 ? 380 : 480,
      label: `Scatter of ${found.metrics[x]} and ${found.metrics[y]}: ${rows.filter((r) => r.change).length} of ${rows.length} systems change their place.`,
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
