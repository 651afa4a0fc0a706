// Score against gallery size.

import { chooseViews } from "./choosers.js";
import { curveFigure } from "./curves.js";
import { report } from "./data.js";
import { plot } from "./plots.js";
import { showTable } from "./tables.js";

function galleryFigure(view) {
  const lines = view.runs.map((run, k) => ({ run, name: run, ...view.curves[k] }));
  return curveFigure(view.sizes, lines, {
    x: `number of ${view.item} to choose from`, y: view.key[2], at: (size) => `${size.toLocaleString("en")} ${view.item}`,
  });
}

export function startGallery() {
  const found = report.gallery;
  if (!found) return;
  chooseViews("gallery", found.axes, found.views, (view) => {
    showTable("gallery", view.table);
    plot("gallery", galleryFigure(view));
  });
}
