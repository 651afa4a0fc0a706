// How many pairs are which share of the effort, on a logarithmic axis.

import { chooseViews } from "./choosers.js";
import { report } from "./data.js";
import { isolated } from "./dom.js";
import { axis, plot } from "./plots.js";
import { showTable } from "./tables.js";

function effortFigure(view) {
  return (colour, width) => {
    const rows = view.bars.map((_, k) => view.bars.length - 1 - k);
    const counts = view.bars.map((bar) => Math.max(bar.count, 1));
    const powers = [];
    for (let power = 1; power <= 10 * Math.max(...counts); power *= 10) powers.push(power);
    const short = (n) => (n < 1000 ? String(n) : n < 1e6 ? `${n / 1e3}K` : n < 1e9 ? `${n / 1e6}M` : `${n / 1e9}G`);
    return {
      data: [{
        type: "bar", orientation: "h", x: counts, y: rows, width: 0.62, hoverinfo: "text", hovertext: view.bars.map((bar) => `${bar.name}: ${bar.count.toLocaleString("en")} pairs`),
        text: view.bars.map((bar) => bar.count.toLocaleString("en")), textposition: "outside", cliponaxis: false, textfont: { color: colour.text },
        marker: { color: view.bars.map((bar) => (bar.name.endsWith("effort") ? colour.accent : colour.grey)) },
      }],
      height: 90 + 38 * view.bars.length, label: view.says,
      layout: {
        xaxis: axis(colour, { title: "pairs (logarithmic axis)", type: "log", tickvals: powers, ticktext: powers.map(short), range: [0, Math.log10(Math.max(...counts)) * (width < 500 ? 1.3 : 1.12)] }),
        yaxis: axis(colour, { tickvals: rows, ticktext: view.bars.map((bar) => bar.name), showgrid: false }),
        margin: { l: 10, r: 20, t: 10, b: 50 },
      },
    };
  };
}

export function startEffort() {
  const found = report.effort;
  if (!found) return;
  const says = document.querySelector('[data-says="effort"]');
  chooseViews("effort", found.axes, found.views, (view) => {
    says.replaceChildren(isolated(view.says));
    showTable("effort", view.table);
    plot("effort", effortFigure(view));
  });
}
