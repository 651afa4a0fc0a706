// Names in plots. Plotly reads a kind of html in its texts, so names are escaped first.

import { report } from "./data.js";
import { shorten } from "./dom.js";

export function safeName(text, most = 26) {
  const short = shorten(text, most).replace(/[\u0000-\u001f]/g, " ");
  const escaped = short.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  // Isolated, so that right-to-left names do not turn the text around them.
  return `\u2068${escaped}\u2069`;
}

export const SYMBOLS = ["circle", "square", "diamond", "triangle-up", "cross", "triangle-down", "star"];
const DASHES = ["solid", "dash", "dot", "dashdot"];

// Few systems keep their colour and marker in every plot; of many, each plot colours those that it is about.
export const COLOURED = 7;

export function styleNumber(name, at) {
  return report.systems.length > COLOURED ? at : report.systems.indexOf(name);
}

// Colour, marker and dash together tell systems apart, also for those who see no colours.
export function styleOf(at, colours) {
  const n = colours.series.length;
  return {
    colour: colours.series[at % n],
    symbol: SYMBOLS[at % SYMBOLS.length],
    dash: DASHES[Math.floor(at / n) % DASHES.length],
  };
}
