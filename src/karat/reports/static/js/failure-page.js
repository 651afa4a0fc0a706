// The page of failures comes alive: colours, tables, the browser of failures.

import { watchScroll } from "./cues.js";
import { startFailures } from "./failures.js";
import { startNavigation } from "./navigation.js";
import { watchPaper } from "./paper.js";
import { startTheme } from "./theme.js";

startTheme();
for (const box of document.querySelectorAll(".scroll")) watchScroll(box);
startNavigation();
watchPaper();
startFailures().then(() => { document.documentElement.dataset.ready = "yes"; });
