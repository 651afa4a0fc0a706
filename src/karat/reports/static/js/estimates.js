// Pages about estimates come alive: colours, tables with a choice, plots, pictures.

import { watchScroll } from "./cues.js";
import { startEffort } from "./effort.js";
import { startEstimates } from "./estimated.js";
import { startNavigation } from "./navigation.js";
import { watchPaper } from "./paper.js";
import { watchPlots } from "./plots.js";
import { startSimulation } from "./simulation.js";
import { startStrips } from "./strips.js";
import { startTheme } from "./theme.js";

startTheme();
for (const box of document.querySelectorAll(".scroll")) watchScroll(box);
startNavigation();
startEffort();
startSimulation();
startEstimates();
startStrips();
watchPlots();
watchPaper();
document.documentElement.dataset.ready = "yes";
