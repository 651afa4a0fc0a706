// Scores as points with their intervals.

import { chooseViews } from "./choosers.js";
import { report } from "./data.js";
import { safeName } from "./labels.js";
import { axis, plot } from "./plots.js";
import { showTable } from "./tables.js";

function forestFigure(view) {
  return (colour, width) => {
    const points = view.points;
    const names = points.map((point) => safeName(point.name, width < 500 ? 18 : 34));
    const rows = points.map((_, k) => points.length - 1 - k);
    const rank = points[0].unit === "rank";
    const hover = points.map((point) => [
      `<b>${safeName(point.name, 60)}</b>`, point.text + (point.between ? ` (interval ${point.between})` : ""),
      point.places ? `can have place ${point.places}` : "", point.first ? "first or tied for first" : "",
    ].filter(Boolean).join("<br>"));
    const data = [];
    if (points.some((point) => point.bounds[0] !== null)) {
      points.forEach((point, k) => {
        if (point.bounds[0] === null) return;
        data.push({ type: "scatter", mode: "lines", x: point.bounds, y: [rows[k], rows[k]], hoverinfo: "skip",
          line: { color: colour.line, width: 10 } });
      });
    }
    data.push({
      type: "scatter", mode: "markers", x: points.map((point) => point.value), y: rows, hoverinfo: "text", text: hover,
      error_x: { type: "data", symmetric: false, thickness: 2, width: 5, color: colour.accent,
        array: points.map((point) => (point.ends[1] === null ? 0 : point.ends[1] - point.value)),
        arrayminus: points.map((point) => (point.ends[0] === null ? 0 : point.value - point.ends[0])) },
      marker: { size: 11, color: points.map((point) => (point.first ? colour.accent : colour.panel)),
        line: { color: colour.accent, width: 2 } },
    });
    const measure = view.key[view.key.length - 1];
    const title = rank ? `${measure}: place, low is good` : `${view.key.length > 1 ? measure : "score"}${points[0].share ? " in percent" : ""}`;
    return {
      data, height: Math.max(150, 90 + 30 * points.length),
      label: `Points with intervals: ${view.key.join(", ")}. Best: ${points[0].name}, ${points[0].text}.`,
      layout: {
        xaxis: axis(colour, { title: safeName(title, 60) }),
        yaxis: axis(colour, { tickvals: rows, ticktext: names, range: [-0.6, points.length - 0.4], showgrid: false }),
      },
    };
  };
}

export function startForest() {
  const found = report.forest;
  if (!found) return;
  chooseViews("forest", found.axes, found.views, (view) => {
    showTable("forest", view.table);
    plot("forest", forestFigure(view));
  });
}
