// Names in plots. Plotly reads a kind of html in its texts, so names are escaped first.

import { report } from "./data.js";
import { shorten, shortenMiddle } from "./dom.js";

export function safeName(text, most = 26) {
  const short = shortenMiddle(text, most).replace(/[\u0000-\u001f]/g, " ");
  const escaped = short.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  // Isolated, so that right-to-left names do not turn the text around them.
  return `\u2068${escaped}\u2069`;
}

// Names side by side: those that would look the same when shortened lose what they begin with in common.
export function safeNames(names, most) {
  const short = names.map((name) => shortenMiddle(name, most));
  return names.map((name, k) => {
    const like = names.filter((other, j) => j !== k && other !== name && short[j] === short[k]);
    if (!like.length) return safeName(name, most);
    const letters = Array.from(name);
    const shared = Math.min(...like.map((other) => {
      const others = Array.from(other);
      const at = letters.findIndex((letter, i) => letter !== others[i]);
      return at < 0 ? letters.length : at;
    }));
    return safeName(shorten(`${letters.slice(0, 3).join("")}…${letters.slice(shared).join("")}`, most), most);
  });
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
