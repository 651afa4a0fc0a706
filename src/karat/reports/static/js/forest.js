// Scores as points with their intervals.

import { chooseViews } from "./choosers.js";
import { report } from "./data.js";
import { safeName, safeNames } from "./labels.js";
import { axis, plot } from "./plots.js";
import { showTable } from "./tables.js";

const BOUNDS = "bounds: whatever the unjudged answers are";

function boundsOf(point) {
  // Where everything was judged both bounds are the score itself.
  if (point.bounds[0] === null || point.bounds[1] === null || point.bounds[0] === point.bounds[1]) return "";
  const [low, high] = point.bounds.map((end) => end.toLocaleString("en", { maximumFractionDigits: 1 }));
  return `${low}–${high}`;
}

function forestFigure(view) {
  return (colour, width) => {
    const points = view.points;
    const names = safeNames(points.map((point) => point.name), width < 500 ? 22 : 34);
    const rows = points.map((_, k) => points.length - 1 - k);
    const rank = points[0].unit === "rank";
    const hover = points.map((point) => [
      `<b>${safeName(point.name, 60)}</b>`, point.text + (point.between ? ` (interval ${point.between})` : ""),
      boundsOf(point) ? `${boundsOf(point)} whatever the unjudged answers are` : "",
      point.places ? `can have place ${point.places}` : "", point.first ? "beaten by none" : "",
    ].filter(Boolean).join("<br>"));
    const data = [];
    const bounded = points.map((_, k) => k).filter((k) => boundsOf(points[k]));
    bounded.forEach((k, at) => {
      // Grey enough to be seen as a band, and one entry in the legend for all of them.
      data.push({ type: "scatter", mode: "lines", x: points[k].bounds, y: [rows[k], rows[k]], hoverinfo: "text",
        text: [hover[k], hover[k]], name: width < 500 ? BOUNDS.replace(", or", ",<br>or") : BOUNDS, showlegend: at === 0, line: { color: colour.grey, width: 10 }, opacity: 0.5 });
    });
    // The colours of the first screen: those that no other is shown to beat, and the others in grey.
    const anybody = points.some((point) => point.first);
    for (const first of anybody ? [true, false] : [false]) {
      const these = points.map((_, k) => k).filter((k) => points[k].first === first);
      if (!these.length) continue;
      const shade = first || !anybody ? colour.accent : colour.soft;
      const name = anybody ? (first ? "beaten by none" : "beaten by another") : "score with its interval";
      data.push({
        type: "scatter", mode: "markers", x: these.map((k) => points[k].value), y: these.map((k) => rows[k]), hoverinfo: "text", text: these.map((k) => hover[k]), name,
        error_x: { type: "data", symmetric: false, thickness: 2, width: 5, color: shade,
          array: these.map((k) => (points[k].ends[1] === null ? 0 : points[k].ends[1] - points[k].value)),
          arrayminus: these.map((k) => (points[k].ends[0] === null ? 0 : points[k].value - points[k].ends[0])) },
        marker: { size: 11, color: first ? colour.accent : colour.panel, line: { color: shade, width: 2 } },
      });
    }
    const measure = view.key[view.key.length - 1];
    const title = rank ? `${measure}: place, low is good` : `${view.key.length > 1 ? measure : "score"}${points[0].share ? " in percent" : ""}`;
    return {
      data, height: Math.max(150, 90 + 30 * points.length) + (bounded.length ? 50 : 0),
      label: `Points with intervals: ${view.key.join(", ")}. Best: “${points[0].name}”, ${points[0].text}.`
        + (bounded.length ? ` Wide bands are ${BOUNDS}; “${points[bounded[0]].name}”: ${boundsOf(points[bounded[0]])}.` : ""),
      layout: {
        ...(bounded.length ? { showlegend: true, margin: { l: 10, r: 10, t: 60, b: 50 },
          legend: { orientation: "h", x: 0, xanchor: "left", xref: "container", y: 1, yref: "container", yanchor: "top", itemclick: false, itemdoubleclick: false } } : {}),
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
