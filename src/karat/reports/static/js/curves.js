// Lines with error bars over a common axis: one or two lines of each system.

import { COLOURED, safeName, styleNumber, styleOf } from "./labels.js";
import { axis } from "./plots.js";

// Of numbers on a logarithmic axis those that do not touch their neighbour; the last one always.
function spaced(x, room) {
  const at = (value) => (Math.log(value / x[0]) / Math.log(x[x.length - 1] / x[0] || 1)) * room;
  const kept = [];
  for (const value of [...x].reverse()) {
    const before = kept[0];
    const letters = (value.toLocaleString("en").length + (before ?? 0).toLocaleString("en").length) / 2;
    if (before === undefined || at(before) - at(value) >= 7.5 * letters + 8) kept.unshift(value);
  }
  return kept;
}

// The interval of a point; a value of too few images has none.
const ends = (line, s) => (line.low[s] === null ? "" : ` (${line.low[s].toFixed(1)}–${line.high[s].toFixed(1)})`);

// `lines`: { run, name, values, low, high, second }; a second line of a run is drawn dotted in its colour.
// `words`: { x, y, at(x) } label the axes and a point; `last` says whether the line ends matter most.
export function curveFigure(x, lines, words) {
  return (colour, width) => {
    const last = x.length - 1;
    const firsts = lines.filter((line) => !line.second).sort((a, b) => b.values[last] - a.values[last]);
    const order = firsts.flatMap((line) => [line, ...lines.filter((other) => other.second && other.run === line.run)]);
    const place = new Map(firsts.map((line, at) => [line.run, at]));
    const data = order.map((line) => {
      const at = place.get(line.run);
      const grey = at >= COLOURED;
      const style = grey ? { colour: colour.grey, symbol: "circle", dash: "solid" } : styleOf(styleNumber(line.run, at), colour);
      return {
        type: "scatter", mode: "lines+markers", name: safeName(line.name, 30), x, y: line.values, hoverinfo: "text", showlegend: !grey,
        text: x.map((value, s) => `<b>${safeName(line.name, 60)}</b><br>${words.at(value)}: ${line.values[s].toFixed(1)}%${ends(line, s)}`),
        line: { color: style.colour, width: grey ? 1 : 2, dash: line.second ? "dot" : style.dash },
        marker: { symbol: line.second ? `${style.symbol}-open` : style.symbol, size: grey ? 4 : 8, color: style.colour },
        error_y: { type: "data", symmetric: false, thickness: 1.2, width: 3, color: style.colour, visible: !grey,
          array: line.values.map((v, s) => (line.high[s] ?? v) - v), arrayminus: line.values.map((v, s) => v - (line.low[s] ?? v)) },
      };
    });
    const best = order[0];
    const ticks = spaced(x, width - 90);
    return {
      data, height: width < 500 ? 420 : 440,
      label: `${words.y} against ${words.x}: “${best.name}” goes from ${best.values[0].toFixed(1)}% at ${x[0]} to ${best.values[last].toFixed(1)}% at ${x[last]}.`,
      layout: {
        xaxis: axis(colour, { title: words.x, type: "log", tickvals: ticks, ticktext: ticks.map((value) => value.toLocaleString("en")), tickangle: 0 }),
        yaxis: axis(colour, { title: `${words.y} in percent` }),
        showlegend: true, legend: { orientation: "h", y: -0.24, x: 0, yanchor: "top" }, margin: { l: 10, r: 20, t: 14, b: 60 },
      },
    };
  };
}
