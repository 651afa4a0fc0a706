// Estimates side by side, gaps between runs, and the probabilities of what nobody vetted.

import { chooseViews } from "./choosers.js";
import { report } from "./data.js";
import { isolated } from "./dom.js";
import { safeName, safeNames, SYMBOLS } from "./labels.js";
import { axis, plot } from "./plots.js";
import { showTable } from "./tables.js";

const TOP = { orientation: "h", x: 0, xanchor: "left", xref: "container", y: 1, yref: "container", yanchor: "top" };

function spreads(points, shade) {
  return { type: "data", thickness: 2, width: 5, color: shade, array: points.map((point) => point.spread ?? 0) };
}

function estimatorsFigure(view, series) {
  return (colour, width) => {
    const names = safeNames(view.runs, width < 500 ? 18 : 34);
    // The marks of a run stand below each other, so that equal values do not hide each other.
    const place = (point) => (view.runs.length - 1 - view.runs.indexOf(point.run)) + 0.27 - 0.18 * series.indexOf(point.series);
    const data = series.map((name, at) => {
      const points = view.points.filter((point) => point.series === name);
      const shade = colour.series[at % colour.series.length];
      return {
        type: "scatter", mode: "markers", name: safeName(name, 34), x: points.map((point) => point.value), y: points.map(place), hoverinfo: "text",
        text: points.map((point) => `<b>${safeName(point.run, 60)}</b><br>${safeName(name, 60)}: ${safeName(point.text, 40)} percent`),
        ...(at ? {} : { error_x: spreads(points, shade) }),
        marker: { size: at ? 9 : 11, symbol: at ? `${SYMBOLS[at]}-open` : SYMBOLS[0], color: shade, line: { width: 2, color: shade } },
      };
    }).filter((trace) => trace.x.length);
    const best = view.points.filter((point) => point.series === series[0]);
    return {
      data, height: 130 + 74 * view.runs.length + (width < 500 ? 50 : 0),
      label: `Estimates of ${view.key[1]}, ${view.key[0]}: ${best.map((point) => `${point.run} ${point.text}`).join(", ")} percent.`,
      layout: {
        showlegend: true, legend: { ...TOP, font: { size: 12 } }, margin: { l: 10, r: 20, t: width < 500 ? 96 : 46, b: 50 },
        xaxis: axis(colour, { title: safeName(`${view.key[1]} in percent`, 60) }),
        yaxis: axis(colour, { tickvals: view.runs.map((_, k) => view.runs.length - 1 - k), ticktext: names, range: [-0.6, view.runs.length - 0.4], showgrid: false }),
      },
    };
  };
}

function differencesFigure(view) {
  return (colour, width) => {
    const rows = view.points.map((_, k) => view.points.length - 1 - k);
    return {
      data: [{
        type: "scatter", mode: "markers", x: view.points.map((point) => point.value), y: rows, hoverinfo: "text", error_x: spreads(view.points, colour.accent),
        text: view.points.map((point) => `<b>${safeName(point.name, 70)}</b><br>${point.text} points<br>first ahead in ${point.ahead} of the draws`),
        marker: { size: 11, color: colour.accent },
      }],
      height: 100 + 36 * view.points.length, label: `Estimated gaps in ${view.key[1]}: ${view.points.map((point) => `${point.name} ${point.text}`).join(", ")} points.`,
      layout: {
        xaxis: axis(colour, { title: "gap in points of percent", zeroline: true, zerolinecolor: colour.soft, rangemode: "tozero" }),
        yaxis: axis(colour, { tickvals: rows, ticktext: safeNames(view.points.map((point) => point.name), width < 500 ? 20 : 40), range: [-0.6, view.points.length - 0.4], showgrid: false }),
        margin: { l: 10, r: 20, t: 10, b: 50 },
      },
    };
  };
}

function probabilitiesFigure(view) {
  return (colour, width) => {
    const bars = (name, counts, shade, pattern) => ({
      type: "bar", name, x: view.middles, y: counts, width: 4.4, hoverinfo: "text", textposition: "none", marker: { color: shade, pattern: { shape: pattern, fgcolor: shade, bgcolor: colour.panel, fillmode: "overlay", solidity: 0.35 } },
      text: counts.map((count, k) => `${view.middles[k] - 2.5} to ${view.middles[k] + 2.5}%: ${count.toLocaleString("en")} pairs<br>${name}`),
    });
    return {
      data: [bars("noisy label: not relevant", view.no, colour.series[1], "/"), bars("noisy label: relevant", view.yes, colour.series[0], "")],
      height: 340, label: view.says,
      layout: {
        barmode: "stack", showlegend: true, legend: { ...TOP, traceorder: "normal" }, margin: { l: 10, r: 14, t: width < 500 ? 56 : 40, b: 50 },
        xaxis: axis(colour, { title: "probability that the pair is relevant", range: [-0.5, 101.5], tickvals: [0, 20, 40, 60, 80, 100], ticktext: ["0", "20", "40", "60", "80", "100%"], showgrid: false }),
        yaxis: axis(colour, { title: "pairs that are not vetted" }),
      },
    };
  };
}

function start(name, figure) {
  const found = report[name];
  if (!found) return;
  const says = document.querySelector(`[data-says="${name}"]`);
  chooseViews(name, found.axes, found.views, (view) => {
    if (says) says.replaceChildren(isolated(view.says));
    showTable(name, view.table);
    plot(name, figure(view, found.series));
  });
}

export function startEstimates() {
  start("estimators", estimatorsFigure);
  start("differences", differencesFigure);
  start("probabilities", probabilitiesFigure);
}
