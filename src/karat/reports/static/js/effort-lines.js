// Lines with bands against the share of vetted pairs, one for each method.

import { safeName, SYMBOLS } from "./labels.js";
import { axis } from "./plots.js";

// Two of the page's seven colours are blue: neighbours are told apart best in this order.
const ORDER = [0, 1, 2, 3, 5, 6, 4];
const DASHES = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"];

// Colour, marker and dash together tell methods apart, also for those who see no colours.
export function methodStyle(at, colour) {
  return { colour: colour.series[ORDER[at % ORDER.length]], symbol: SYMBOLS[at % SYMBOLS.length], dash: DASHES[at % DASHES.length] };
}

export function effortAxis(colour, width) {
  const of = width < 500 ? "" : " of those that the measure looks at";
  return axis(colour, { title: `pairs vetted, in percent${of}`, range: [-2, 102], tickvals: [0, 20, 40, 60, 80, 100], ticktext: ["0", "20", "40", "60", "80", "100%"] });
}

export function below(width) {
  return { showlegend: true, legend: { orientation: "h", y: -0.2, x: 0, yanchor: "top", font: { size: width < 500 ? 12 : 13 } }, margin: { l: 10, r: 14, t: 14, b: 60 } };
}

function band(line, style) {
  const known = line.values.map((_, k) => k).filter((k) => line.low[k] !== null && line.high[k] !== null);
  const back = [...known].reverse();
  return {
    type: "scatter", mode: "lines", fill: "toself", fillcolor: style.colour, opacity: 0.13, line: { width: 0 }, hoverinfo: "skip", showlegend: false,
    x: [...known, ...back].map((k) => line.effort[k]), y: [...known.map((k) => line.high[k]), ...back.map((k) => line.low[k])],
  };
}

// `words`: { y, unit, from0, levels: [{ name, value, dash }], start: { name, value } }.
export function effortFigure(lines, words) {
  return (colour, width) => {
    const styles = lines.map((_, at) => methodStyle(at, colour));
    const unit = words.unit ?? "";
    const hover = (line, k) => (line.values[k] === null ? "" : `<b>${safeName(line.name, 60)}</b><br>${line.effort[k].toFixed(0)}% vetted (${line.labels[k].toLocaleString("en")} pairs)<br>${line.values[k].toFixed(2)}${unit} ± ${(line.high[k] - line.values[k]).toFixed(2)}`);
    const data = [
      ...lines.map((line, at) => band(line, styles[at])),
      ...lines.map((line, at) => ({
        type: "scatter", mode: "lines+markers", name: safeName(line.name, 34), x: line.effort, y: line.values, hoverinfo: "text", text: line.values.map((_, k) => hover(line, k)),
        line: { color: styles[at].colour, width: 2, dash: styles[at].dash }, marker: { symbol: styles[at].symbol, size: width < 500 ? 6 : 7, color: styles[at].colour },
      })),
      ...(words.levels ?? []).map((level) => ({
        type: "scatter", mode: "lines", name: level.name, x: [0, 100], y: [level.value, level.value], hoverinfo: "text", text: `${level.name}: ${level.value.toFixed(2)}${unit}`,
        line: { color: colour.text, width: 1.6, dash: level.dash ?? "solid" },
      })),
    ];
    if (words.start) {
      data.push({ type: "scatter", mode: "markers", name: words.start.name, x: [0], y: [words.start.value], hoverinfo: "text", cliponaxis: false,
        text: `${words.start.name}: ${words.start.value.toFixed(2)}${unit}`, marker: { symbol: "x", size: 11, color: colour.text } });
    }
    const ends = lines.map((line) => ({ name: line.name, value: line.values.find((value) => value !== null) })).filter((line) => line.value !== undefined);
    return {
      data, height: width < 500 ? 460 : 440,
      label: `${words.y} against the share of vetted pairs. At the first batch: ${ends.map((end) => `${end.name} ${end.value.toFixed(2)}${unit}`).join(", ")}.`,
      layout: { xaxis: effortAxis(colour, width), yaxis: axis(colour, { title: words.y, ...(words.from0 ? { rangemode: "tozero", range: topOf(lines, words) } : {}) }), ...below(width) },
    };
  };
}

// From 0 to the highest value that is drawn: a band below 0 would mean nothing.
function topOf(lines, words) {
  const values = [...lines.flatMap((line) => line.high), words.start?.value ?? 0].filter((value) => value !== null);
  return [0, 1.05 * Math.max(...values, 1e-9)];
}
