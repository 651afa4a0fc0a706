// Heat map of Kendall's tau between metrics.

import { report } from "./data.js";
import { quoted } from "./dom.js";
import { headings, safeName, safeNames, TURNED_ROOM } from "./labels.js";
import { axis, plot } from "./plots.js";

const MOST_NUMBERS = 15;

export function startCorrelation() {
  const found = report.correlation;
  if (!found) return;
  const n = found.metrics.length;
  plot("correlation", (colour, width) => {
    // Numbers in the cells of few metrics; of many the colour alone, and the table has the numbers.
    const few = n <= MOST_NUMBERS;
    const cell = few ? 44 : TURNED_ROOM;
    const names = safeNames(found.metrics, width < 500 ? 16 : 24);
    const side = 30 + 7 * Math.max(...names.map((name) => name.length - 2));
    const minWidth = side + cell * n;
    const heads = headings(found.metrics, (Math.max(width - (width >= 500 ? 80 : 0), minWidth) - side) / n);
    const numbers = [...Array(n).keys()];
    const text = found.values.map((row) => row.map((v) => (v === null ? "—" : v.toFixed(2).replace("-", "−"))));
    return {
      data: [{
        type: "heatmap", z: found.values, x: numbers, y: numbers, zmin: -1, zmax: 1, xgap: 2, ygap: 2, hoverinfo: "text",
        colorscale: [[0, colour.low], [0.5, colour.neutral], [1, colour.high]], text, texttemplate: few ? "%{text}" : "", textfont: { color: colour.text },
        hovertext: found.values.map((row, a) => row.map((_, b) => `${safeName(found.metrics[a], 40)} and ${safeName(found.metrics[b], 40)}: τ ${text[a][b]}`)),
        colorbar: { title: { text: "τ" }, thickness: 12, outlinewidth: 0, tickvals: [-1, -0.5, 0, 0.5, 1], len: 0.9 },
        showscale: width >= 500 && n > 4,
      }],
      height: 40 + heads.height + (few ? 40 : cell) * n, minWidth,
      label: `Heat map of Kendall's tau between ${n} metrics. ${found.least.length ? `Least alike: ${quoted(found.least[0])}.` : ""}`,
      layout: {
        xaxis: axis(colour, { tickvals: numbers, ticktext: heads.text, showgrid: false, tickangle: heads.angle }),
        yaxis: axis(colour, { tickvals: numbers, ticktext: names, autorange: "reversed", showgrid: false }),
        margin: { l: 10, r: 10, t: 10, b: 10 },
      },
    };
  });
}
