// Rank flow: a line per system over the metrics.

import { holderOf, listBox } from "./choosers.js";
import { report } from "./data.js";
import { COLOURED, headings, safeName, safeNames, styleNumber, styleOf, TURNED_ROOM } from "./labels.js";
import { axis, plot } from "./plots.js";

// Systems of equal place are drawn under each other: their lines and names stay apart.
function rowsOf(found) {
  const rows = found.systems.map(() => []);
  found.metrics.forEach((_, m) => {
    const order = found.systems.map((_, s) => s).filter((s) => found.places[s][m] !== null);
    order.sort((a, b) => found.places[a][m] - found.places[b][m] || a - b);
    order.forEach((s, k) => { rows[s][m] = k + 1; });
  });
  return rows;
}

function flowFigure(found, rows, chosen) {
  // By places, not by rows: of systems that share a place none has moved.
  const moved = found.places.map((places) => {
    const known = places.filter((place) => place !== null);
    return known.length ? Math.max(...known) - Math.min(...known) : 0;
  });
  const many = found.systems.length > COLOURED;
  const ranked = moved.map((move, s) => [move, s]).sort((a, b) => b[0] - a[0] || a[1] - b[1]).map(([, s]) => s);
  const coloured = many ? ranked.slice(0, COLOURED) : found.systems.map((_, s) => s);
  return (colour, width) => {
    const names = safeNames(found.systems, width < 620 ? 14 : 22);
    const data = found.systems.map((name, s) => {
      const at = coloured.indexOf(s);
      const on = chosen === "" ? at >= 0 : String(s) === chosen;
      const style = at >= 0 ? styleOf(styleNumber(name, at), colour) : { colour: colour.accent, symbol: "circle", dash: "solid" };
      return {
        type: "scatter", mode: "lines+markers", x: found.metrics.map((_, m) => m), y: found.metrics.map((_, m) => rows[s][m] ?? null),
        hoverinfo: "text", connectgaps: false,
        text: found.metrics.map((metric, m) => `<b>${safeName(name, 60)}</b><br>${safeName(metric, 40)}: place ${found.places[s][m]} (${found.values[s][m]})`),
        line: { color: on ? style.colour : colour.grey, width: on ? 3 : 1.2, dash: on ? style.dash : "solid" },
        marker: { symbol: style.symbol, size: on ? 9 : 5, color: on ? style.colour : colour.grey },
        opacity: on ? 1 : 0.75, zorder: on ? 2 : 1,
      };
    });
    const n = found.metrics.length;
    const last = n - 1;
    // Names of systems at both sides, and between them as much room for a metric as there is.
    const sides = 2 * (34 + 7.4 * Math.max(...names.map((name) => name.length - 2)));
    const minWidth = sides + (width < 620 ? 34 : TURNED_ROOM) * n;
    const heads = headings(found.metrics, (Math.max(width, minWidth) - sides) / Math.max(1, n - 0.7));
    const ends = (m) => {
      const known = found.systems.map((_, s) => s).filter((s) => Number.isFinite(rows[s][m]));
      return known.sort((a, b) => rows[a][m] - rows[b][m]);
    };
    const label = (s, m) => {
      // A place that several systems share: "2=".
      const shared = found.systems.some((_, other) => other !== s && found.places[other][m] === found.places[s][m]);
      const text = `${found.places[s][m]}${shared ? "=" : ""}  ${names[s]}`;
      const line = data[s].line;
      return line.width > 2 ? `<b><span style="color:${line.color}">${text}</span></b>` : text;
    };
    const shared = { range: [found.systems.length + 0.6, 0.4], showgrid: false, tickfont: { size: 12 } };
    return {
      data, height: Math.max(120, 30 + 24 * found.systems.length) + heads.height + 40, minWidth,
      label: `Rank flow of ${found.systems.length} systems over ${found.metrics.length} metrics. `
        + (moved[ranked[0]] ? `“${found.systems[ranked[0]]}” changes its place most, by ${moved[ranked[0]]}.` : "No system changes its place."),
      layout: {
        xaxis: axis(colour, { tickvals: found.metrics.map((_, m) => m), ticktext: heads.text,
          range: [-0.15, last + 0.15], side: "top", tickangle: heads.angle }),
        yaxis: axis(colour, { ...shared, tickvals: ends(0).map((s) => rows[s][0]), ticktext: ends(0).map((s) => label(s, 0)) }),
        yaxis2: axis(colour, { ...shared, overlaying: "y", side: "right", tickvals: ends(last).map((s) => rows[s][last]), ticktext: ends(last).map((s) => label(s, last)) }),
        margin: { l: 10, r: 28, t: 30, b: 10 }, hovermode: "closest",
      },
    };
  };
}

export function startFlow() {
  const found = report.flow;
  if (!found) return;
  const rows = rowsOf(found);
  // The right axis needs a trace of its own, or it is not drawn.
  const show = (chosen) => plot("flow", (colour, width) => {
    const made = flowFigure(found, rows, chosen)(colour, width);
    made.data.push({ type: "scatter", x: [0], y: [1], yaxis: "y2", mode: "markers", opacity: 0, hoverinfo: "skip" });
    return made;
  });
  const everyone = found.systems.length > COLOURED ? "those that move most" : "all systems";
  const options = [["", everyone], ...found.systems.map((name, s) => [String(s), name])];
  holderOf("flow").append(listBox("Highlight", options, "", show).box);
  show("");
}
