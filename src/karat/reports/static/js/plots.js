// Drawing plots: plotly is unpacked once, plots are drawn when they come into sight, and again when the
// choice, the colours or the width change.

import { unpackText } from "./data.js";
import { colours, inLight, onThemeChange } from "./theme.js";

const PRINT_WIDTH = 660;
const drawers = new Map();
let plotly = null;

function loadPlotly() {
  plotly ??= unpackText(document.getElementById("plotly-source").textContent).then((source) => {
    // Allowed by its hash in the page's policy, and by nothing else.
    const script = document.createElement("script");
    script.textContent = source;
    document.head.append(script);
    return window.Plotly;
  });
  return plotly;
}

function base(colour, width) {
  return {
    font: { family: "system-ui, sans-serif", size: width < 500 ? 12 : 13, color: colour.text },
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    margin: { l: 10, r: 10, t: 10, b: 50 }, showlegend: false, dragmode: false, autosize: false,
    hoverlabel: { bgcolor: colour.panel, bordercolor: colour.line, font: { color: colour.text }, align: "left" },
  };
}

export function axis(colour, more = {}) {
  return {
    gridcolor: colour.line, linecolor: colour.line, zeroline: false, fixedrange: true, automargin: true,
    tickcolor: colour.line, ticks: "", ...more,
    title: more.title ? { text: more.title, standoff: 12, font: { color: colour.soft, size: 13 } } : undefined,
  };
}

// `figure(colours, width)` returns { data, layout, height, minWidth, label }.
export function plot(name, figure) {
  const known = drawers.get(name);
  if (known) {
    known.figure = figure;
    if (known.seen) draw(known);
    return;
  }
  const holder = document.querySelector(`[data-plot="${name}"]`);
  const one = { name, figure, canvas: holder.querySelector(".canvas"), box: holder.querySelector(".scroll"), seen: false };
  drawers.set(name, one);
  new IntersectionObserver((entries, watcher) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    watcher.disconnect();
    one.seen = true;
    draw(one);
  }, { rootMargin: "400px" }).observe(holder);
}

async function draw(one, widthNow) {
  const Plotly = await loadPlotly();
  const colour = colours();
  const room = widthNow ?? one.box.clientWidth;
  const made = one.figure(colour, room);
  const width = Math.max(room, widthNow ? 0 : made.minWidth ?? 0);
  const layout = { ...base(colour, width), ...made.layout, width, height: made.height };
  if (made.label) one.canvas.setAttribute("aria-label", made.label);
  one.canvas.querySelector(".waiting")?.remove();
  one.box.toggleAttribute("data-wide", width > room);
  if (width > room) {
    one.box.tabIndex = 0;
    one.box.setAttribute("role", "region");
    one.box.setAttribute("aria-label", `Plot, scrolls sideways: ${one.name}`);
  } else {
    one.box.removeAttribute("tabindex");
    one.box.removeAttribute("role");
    one.box.removeAttribute("aria-label");
  }
  await Plotly.react(one.canvas, made.data, layout, { displayModeBar: false, scrollZoom: false, doubleClick: false });
  one.canvas.dataset.drawn = "yes";
}

function drawAll(width) {
  for (const one of drawers.values()) {
    one.seen = true;
    draw(one, width);
  }
}

export function watchPlots() {
  onThemeChange(() => { for (const one of drawers.values()) if (one.seen) draw(one); });
  let timer = 0;
  let width = window.innerWidth;
  window.addEventListener("resize", () => {
    // A phone's address bar changes the height all the time: only the width matters.
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    clearTimeout(timer);
    timer = setTimeout(() => { for (const one of drawers.values()) if (one.seen) draw(one); }, 150);
  });
  let back = null;
  window.addEventListener("beforeprint", () => { back = inLight(() => drawAll(PRINT_WIDTH)); });
  window.addEventListener("afterprint", () => { back?.(); drawAll(); });
  // What is below the fold is drawn when nothing else is to be done, so that printing finds it there.
  const idle = window.requestIdleCallback ?? ((call) => setTimeout(call, 1500));
  const rest = [...drawers.values()];
  const next = () => {
    const one = rest.shift();
    if (!one) return;
    if (!one.seen) {
      one.seen = true;
      draw(one).then(() => idle(next));
    } else idle(next);
  };
  window.addEventListener("load", () => setTimeout(() => idle(next), 800));
  if (document.readyState === "complete") setTimeout(() => idle(next), 800);
}

