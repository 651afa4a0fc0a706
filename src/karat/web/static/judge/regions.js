// Box and outline of an object, drawn over its image: numbers only, made by DOM calls.
import { draw, key, make } from "../dom.js";

const ODD = "The outline cannot be drawn: the image has other proportions than its annotation. Choose the answer for cases that you cannot decide.";

const numbers = (list) => list.map(Number).filter(Number.isFinite);

function path(line) {
  const at = numbers(line);
  const points = [];
  for (let i = 0; i + 1 < at.length; i += 2) points.push(`${at[i]} ${at[i + 1]}`);
  return `M${points.join("L")}Z`;
}

// The drawing for an image that is fitted into the same frame; each line has a pale one below, for dark images.
export function drawing({ size, box, outline }) {
  const [width, height] = numbers(size);
  const [x, y, w, h] = numbers(box);
  const svg = draw("svg", { class: "region", viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true", focusable: "false" });
  const d = outline.map(path).join("");
  for (const name of ["below", "line"]) {
    svg.append(draw("rect", { class: `box ${name}`, x, y, width: w, height: h }));
    if (d) svg.append(draw("path", { class: `mask ${name}`, d, "fill-rule": "evenodd" }));
  }
  return svg;
}

// Whether an image has the proportions of the annotation: else the drawing would lie beside its object.
export function fits(image, { size }) {
  const [width, height] = numbers(size);
  return Math.abs((image.naturalWidth * height) / width - image.naturalHeight) <= 1.5;
}

export function cover(frame, region) {
  const image = frame.querySelector("img");
  for (const old of frame.querySelectorAll(".region, .odd-region")) old.remove();
  if (!image || !region) return;
  if (fits(image, region)) frame.append(drawing(region));
  else frame.append(make("span", { class: "odd-region" }, ODD));
}

const areShown = () => document.documentElement.dataset.regions !== "hidden";

export function toggleRegions() {
  showRegions(!areShown());
}

// Every image begins with its outline, whatever was hidden before.
export function showRegions(shown = true) {
  document.documentElement.dataset.regions = shown ? "shown" : "hidden";
  for (const button of document.querySelectorAll(".toggle-region")) button.firstChild.data = told(shown);
}

const told = (shown) => (shown ? "Hide the outline" : "Show the outline");

export function toggleButton() {
  const attributes = { type: "button", class: "quiet toggle-region", "aria-keyshortcuts": "o", on: { click: toggleRegions } };
  return make("button", attributes, told(areShown()), key("O"));
}
