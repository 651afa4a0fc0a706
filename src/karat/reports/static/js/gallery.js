// Score against gallery size.

import { chooseViews } from "./choosers.js";
import { report } from "./data.js";
import { COLOURED, safeName, styleNumber, styleOf } from "./labels.js";
import { axis, plot } from "./plots.js";
import { showTable } from "./tables.js";

function galleryFigure(view) {
  return (colour, width) => {
    const last = view.sizes.length - 1;
    const order = view.runs.map((_, k) => k).sort((a, b) => view.curves[b].values[last] - view.curves[a].values[last]);
    const data = order.map((k, at) => {
      const curve = view.curves[k];
      const grey = at >= COLOURED;
      const style = grey ? { colour: colour.grey, symbol: "circle", dash: "solid" } : styleOf(styleNumber(view.runs[k], at), colour);
      return {
        type: "scatter", mode: "lines+markers", name: safeName(view.runs[k], 30), x: view.sizes, y: curve.values, hoverinfo: "text", showlegend: !grey,
        text: view.sizes.map((size, s) => `<b>${safeName(view.runs[k], 60)}</b><br>${size.toLocaleString("en")} ${view.item}: ${curve.values[s].toFixed(1)}% (${curve.low[s].toFixed(1)}–${curve.high[s].toFixed(1)})`),
        line: { color: style.colour, width: grey ? 1 : 2, dash: style.dash }, marker: { symbol: style.symbol, size: grey ? 4 : 8, color: style.colour },
        error_y: { type: "data", symmetric: false, thickness: 1.2, width: 3, color: style.colour, visible: !grey,
          array: curve.values.map((v, s) => curve.high[s] - v), arrayminus: curve.values.map((v, s) => v - curve.low[s]) },
      };
    });
    return {
      data, height: width < 500 ? 420 : 440,
      label: `${view.key[2]} against the number of ${view.item}: ${safeBest(view, order[0], last)}`,
      layout: {
        xaxis: axis(colour, { title: `number of ${view.item} to choose from`, type: "log", tickvals: view.sizes, ticktext: view.sizes.map((size) => size.toLocaleString("en")), tickangle: 0 }),
        yaxis: axis(colour, { title: `${view.key[2]} in percent` }),
        showlegend: true, legend: { orientation: "h", y: -0.24, x: 0, yanchor: "top" }, margin: { l: 10, r: 20, t: 14, b: 60 },
      },
    };
  };
}

function safeBest(view, k, last) {
  const values = view.curves[k].values;
  return `${view.runs[k]} goes from ${values[0].toFixed(1)}% at ${view.sizes[0]} to ${values[last].toFixed(1)}% at ${view.sizes[last]}.`;
}

export function startGallery() {
  const found = report.gallery;
  if (!found) return;
  chooseViews("gallery", found.axes, found.views, (view) => {
    showTable("gallery", view.table);
    plot("gallery", galleryFigure(view));
  });
}
