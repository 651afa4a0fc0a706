// Names in plots. Plotly reads a kind of html in its texts, so names are escaped first.

import { report } from "./data.js";
import { shorten, shortenMiddle } from "./dom.js";

export function safeName(text, most = 26) {
  const short = shortenMiddle(text, most).replace(/[\u0000-\u001f]/g, " ");
  const escaped = short.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  // Isolated, so that right-to-left names do not turn the text around them.
  return `\u2068${escaped}\u2069`;
}

// How many letters two names begin with in common.
function sharedStart(letters, others) {
  const at = letters.findIndex((letter, i) => letter !== others[i]);
  return at < 0 ? letters.length : at;
}

// Names side by side: those that would look the same when shortened keep the words in which they differ.
export function safeNames(names, most) {
  const short = names.map((name) => shortenMiddle(name, most));
  return names.map((name, k) => {
    const like = names.filter((other, j) => j !== k && other !== name && short[j] === short[k]).map((other) => Array.from(other));
    if (!like.length) return safeName(name, most);
    const letters = Array.from(name);
    let begin = Math.min(...like.map((other) => sharedStart(letters, other)));
    let end = letters.length - Math.min(...like.map((other) => sharedStart([...letters].reverse(), [...other].reverse())));
    while (begin > 0 && letters[begin - 1] !== " ") begin -= 1;
    while (end < letters.length && letters[end] !== " ") end += 1;
    const middle = letters.slice(begin, Math.max(begin + 1, end));
    const room = Math.max(0, most - middle.length - 2);
    const head = letters.slice(0, Math.min(begin, Math.ceil(room / 2)));
    const tail = letters.slice(Math.max(end, letters.length - Math.floor(room / 2)));
    const parts = [head.join(""), head.length < begin ? "…" : "", middle.join(""), end + tail.length < letters.length ? "…" : "", tail.join("")];
    return safeName(shorten(parts.join(""), most), most);
  });
}

const LETTER = 7.4;
const MOST_TURNED = 24;

// Names of metrics above or below columns of a plot: word below word where every word has the room of its
// column, else turned, so that no two of them touch. `height` is what they need.
export function headings(metrics, room) {
  const words = metrics.map((metric) => metric.split(" "));
  const longest = Math.max(...words.flat().map((word) => Array.from(word).length));
  if (LETTER * longest + 8 <= room) {
    return { text: words.map((each) => each.map((word) => safeName(word, longest)).join("<br>")), angle: 0, height: 18 * Math.max(...words.map((each) => each.length)) };
  }
  const letters = Math.min(MOST_TURNED, Math.max(...metrics.map((metric) => Array.from(metric).length)));
  return { text: safeNames(metrics, MOST_TURNED), angle: -45, height: 24 + 0.75 * LETTER * letters };
}

// The least room of a column whose heading is turned: lines of text are 17 pixels apart.
export const TURNED_ROOM = 26;

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
    dash: DASHES[Math.max(0, at - 3) % DASHES.length],
  };
}
