// Semantic Recall and hit rate against the number of items that count as relevant.

import { chooseViews } from "./choosers.js";
import { curveFigure } from "./curves.js";
import { report } from "./data.js";
import { plot } from "./plots.js";
import { showTable } from "./tables.js";

export function startMeaning() {
  const found = report.meaning;
  if (!found) return;
  chooseViews("meaning", found.axes, found.views, (view) => {
    showTable("meaning", view.table);
    plot("meaning", curveFigure(view.m, view.lines, {
      x: "number of most similar items that count as right", y: `${view.name} and hit rate`, at: (m) => `m = ${m}`,
    }));
  });
}
