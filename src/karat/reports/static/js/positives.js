// Histogram of right answers per query.

import { chooseViews } from "./choosers.js";
import { report } from "./data.js";
import { isolated } from "./dom.js";
import { axis, plot } from "./plots.js";
import { showTable } from "./tables.js";

function positivesFigure(view) {
  return (colour, width) => ({
    data: [{
      type: "bar", x: view.x, y: view.heights, hoverinfo: "text", marker: { color: colour.accent },
      text: view.names.map((name, k) => `${name} right ${name === "1" ? view.item : view.items}: ${view.heights[k].toLocaleString("en")} ${view.queries}`),
      textposition: "none", width: view.step * 0.86,
    }],
    height: 300, label: view.says,
    layout: {
      xaxis: axis(colour, { title: `right ${view.items} per ${view.query}`, showgrid: false, ...(view.x.length < 8 ? { tickvals: view.x, ticktext: view.names } : {}),
        range: [view.x[0] - Math.max(view.step, 1), view.x[view.x.length - 1] + Math.max(view.step, 1)] }),
      yaxis: axis(colour, { title: `number of ${view.queries}` }),
      shapes: [{ type: "line", x0: view.mean, x1: view.mean, yref: "paper", y0: 0, y1: 1, line: { color: colour.bad, width: 2, dash: "dash" } }],
      annotations: [{ x: view.mean, yref: "paper", y: 1, yanchor: "bottom", showarrow: false, text: `mean ${view.mean.toFixed(1)}`, font: { color: colour.bad } }],
      margin: { l: 10, r: 10, t: 28, b: 50 },
    },
  });
}

export function startPositives() {
  const found = report.positives;
  if (!found) return;
  const says = document.querySelector('[data-says="positives"]');
  chooseViews("positives", found.axes, found.views, (view) => {
    says.replaceChildren(isolated(view.says));
    showTable("positives", view.table);
    plot("positives", positivesFigure(view));
  });
}
