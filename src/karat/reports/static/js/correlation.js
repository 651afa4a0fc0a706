// Heat map of Kendall's tau between metrics.

import { report } from "./data.js";
import { safeName } from "./labels.js";
import { axis, plot } from "./plots.js";

export function startCorrelation() {
  const found = report.correlation;
  if (!found) return;
  const n = found.metrics.length;
  plot("correlation", (colour, width) => {
    const side = Math.min(width, 240 + 62 * n);
    const names = found.metrics.map((name) => safeName(name, width < 500 ? 12 : 24));
    const numbers = [...Array(n).keys()];
    const text = found.values.map((row) => row.map((v) => (v === null ? "—" : v.toFixed(2).replace("-", "−"))));
    return {
      data: [{
        type: "heatmap", z: found.values, x: numbers, y: numbers, zmin: -1, zmax: 1, xgap: 2, ygap: 2, hoverinfo: "text",
        colorscale: [[0, colour.low], [0.5, colour.neutral], [1, colour.high]], text, texttemplate: "%{text}", textfont: { color: colour.text },
        hovertext: found.values.map((row, a) => row.map((_, b) => `${safeName(found.metrics[a], 40)} and ${safeName(found.metrics[b], 40)}: τ ${text[a][b]}`)),
        colorbar: { title: { text: "τ" }, thickness: 12, outlinewidth: 0, tickvals: [-1, -0.5, 0, 0.5, 1], len: 0.9 },
        showscale: width >= 500,
      }],
      height: Math.max(260, 130 + Math.min(46, side / (n + 2)) * n), minWidth: 150 + 46 * n,
      label: `Heat map of Kendall's tau between ${n} metrics. ${found.least.length ? `Least alike: ${found.least[0]}.` : ""}`,
      layout: {
        xaxis: axis(colour, { tickvals: numbers, ticktext: names, showgrid: false, tickangle: n > 4 ? -40 : 0 }),
        yaxis: axis(colour, { tickvals: numbers, ticktext: names, autorange: "reversed", showgrid: false }),
        margin: { l: 10, r: 10, t: 10, b: 10 },
      },
    };
  });
}
