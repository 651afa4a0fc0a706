// Errors, scores and gaps against the share of vetted pairs.

import { chooseViews } from "./choosers.js";
import { report } from "./data.js";
import { isolated } from "./dom.js";
import { below, effortAxis, effortFigure } from "./effort-lines.js";
import { axis, plot } from "./plots.js";
import { showTable } from "./tables.js";

const NOISY = "noisy labels, nothing vetted";

function startErrors() {
  chooseViews("errors", report.errors.axes, report.errors.views, (view) => {
    showTable("errors", view.table);
    plot("errors", effortFigure(view.lines, { y: `error of ${view.key[1]} per query, in points`, from0: true, start: { name: NOISY, value: view.noisy } }));
  });
}

function startScores() {
  chooseViews("scores", report.scores.axes, report.scores.views, (view) => {
    showTable("scores", view.table);
    plot("scores", effortFigure(view.lines, { y: `estimated ${view.key[1]}, in percent`, unit: "%", start: { name: NOISY, value: view.noisy }, levels: [{ name: "true score", value: view.true }] }));
  });
}

function startGaps() {
  chooseViews("gaps", report.gaps.axes, report.gaps.views, (view) => {
    showTable("gaps-squared", view.squared.table);
    showTable("gaps-wrong", view.wrong.table);
    plot("gaps-squared", effortFigure(view.squared.lines, { y: "squared error, in squared points", from0: true }));
    plot("gaps-wrong", effortFigure(view.wrong.lines, { y: "pairs of systems in the wrong order, in percent", unit: "%", from0: true }));
  });
}

// Two kinds of pieces in turn: a slope to the error before the refit, and a step to the error after it.
function sawTooth(view) {
  return (colour, width) => {
    const count = view.effort.length;
    const pieces = (from, to) => ({ x: from.flatMap(([x], k) => [x, to[k][0], null]), y: from.flatMap(([, y], k) => [y, to[k][1], null]) });
    const before = view.effort.map((x, k) => [x, view.before[k]]);
    const after = view.effort.map((x, k) => [x, view.after[k]]);
    const told = (when, k, value) => (value === null ? "" : `<b>${when} the refit</b><br>${view.effort[k].toFixed(0)}% vetted (${view.labels[k].toLocaleString("en")} pairs)<br>error ${value.toFixed(2)} points`);
    const [slope, step] = [colour.series[0], colour.series[1]];
    const points = (name, values, symbol, shade) => ({ type: "scatter", mode: "markers", name, x: view.effort, y: values, hoverinfo: "text", text: values.map((value, k) => told(name, k, value)), marker: { symbol, size: 6, color: shade, line: { width: 1.5, color: shade } } });
    return {
      data: [
        { type: "scatter", mode: "lines", name: "more labels, the same model", hoverinfo: "skip", ...pieces(after.slice(0, count - 1), before.slice(1)), line: { color: slope, width: 2, dash: "dot" } },
        { type: "scatter", mode: "lines", name: "the model fitted again", hoverinfo: "skip", ...pieces(before, after), line: { color: step, width: 3 } },
        points("before", view.before, "circle-open", slope),
        points("after", view.after, "square", step),
      ],
      height: width < 500 ? 440 : 420,
      label: `Error of ${view.key[2]} before and after each refit. ${view.says}`,
      layout: { xaxis: effortAxis(colour, width), yaxis: axis(colour, { title: `error of ${view.key[1]} per query, in points`, range: [0, 1.08 * Math.max(...view.before, ...view.after, 1e-9)] }), ...below(width) },
    };
  };
}

function startRefits() {
  const says = document.querySelector('[data-says="refits"]');
  chooseViews("refits", report.refits.axes, report.refits.views, (view) => {
    says.replaceChildren(isolated(view.says));
    showTable("refits", view.table);
    plot("refits", sawTooth(view));
  });
}

export function startSimulation() {
  if (!report.simulation) return;
  let first = true;
  chooseViews("simulation", report.simulation.axes, report.simulation.views, (view) => {
    // The first view is in the page already.
    if (!first) showTable("simulation", view.table);
    first = false;
  });
  startErrors();
  startRefits();
  startScores();
  if (report.gaps) startGaps();
}
