// The images of a page, in frames that keep their size while an image loads.
import { imageOf, ownImageOf } from "./api.js";
import { key, make } from "../dom.js";
import { show, tryAgain } from "./images.js";
import { cover, showRegions, toggleButton } from "./regions.js";
import { zoom } from "./zoom.js";

const JUDGED = "The image to judge";
const OWN = "The image that the caption was written for";

export function addressesOf(items) {
  const item = items[0];
  return item.own ? [ownImageOf(item), imageOf(item)] : [imageOf(item)];
}

export function figures(items) {
  const item = items[0];
  const enlarge = make("span", { class: "keys-only enlarge", "aria-hidden": "true" }, "Enlarge", key("Z"));
  const told = item.region ? toggleButton() : item.own ? `Right: ${JUDGED.toLowerCase()}` : "";
  const judged = figure(imageOf(item), JUDGED, told, enlarge, item.region);
  if (!item.own) return make("div", { class: "pictures" }, judged);
  const own = figure(ownImageOf(item), OWN, `Left: ${OWN.toLowerCase()}`, "");
  return make("div", { class: "pictures two" }, own, judged);
}

export function enlargeJudged(items) {
  zoom(imageOf(items[0]), JUDGED, items[0].region);
}

function figure(address, alt, told, hint, region) {
  const frame = make("button", { type: "button", class: "frame" });
  const filled = () => cover(frame, region);
  if (region) showRegions();
  show(frame, address, alt, filled);
  frame.addEventListener("click", () => {
    if (frame.dataset.state === "ready") zoom(address, alt, region);
    else if (frame.dataset.state === "missing") tryAgain(frame, address, alt, filled);
  });
  return make("figure", {}, frame, make("figcaption", {}, told, hint));
}
