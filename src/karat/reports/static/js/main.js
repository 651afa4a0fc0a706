// The page comes alive: colours, tables with a choice, plots, queries.

import { chooseViews } from "./choosers.js";
import { watchScroll } from "./cues.js";
import { startCorrelation } from "./correlation.js";
import { report } from "./data.js";
import { startFlow } from "./flow.js";
import { startForest } from "./forest.js";
import { startGallery } from "./gallery.js";
import { startMeaning } from "./meaning.js";
import { watchPaper } from "./paper.js";
import { watchPlots } from "./plots.js";
import { startPositives } from "./positives.js";
import { startQueries } from "./queries.js";
import { startScatter } from "./scatter.js";
import { startNavigation } from "./navigation.js";
import { showTable } from "./tables.js";
import { startTheme } from "./theme.js";

function startTables() {
  for (const name of ["summary", "matrix"]) {
    const found = report[name];
    if (!found || !found.axes.length) continue;
    let first = true;
    chooseViews(name, found.axes, found.views, (view) => {
      // The first view is in the page already.
      if (!first) showTable(name, view.table);
      first = false;
    });
  }
}

startTheme();
for (const box of document.querySelectorAll(".scroll")) watchScroll(box);
startNavigation();
startTables();
for (const start of [startForest, startFlow, startCorrelation, startScatter, startPositives, startGallery, startMeaning]) start();
startQueries();
watchPlots();
watchPaper();
document.documentElement.dataset.ready = "yes";
