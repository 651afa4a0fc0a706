// An enlarged image, as large as the window or larger; scrolls by arrow keys, touch or wheel.
import { make } from "../dom.js";
import { cover, fits, toggleButton, toggleRegions } from "./regions.js";

const STEPS = [1, 1.5, 2, 3, 4, 6];
// The share of the window that a box may fill.
const FILLED = 0.8;
let dialog = null;

// With a region, it is drawn over the image, which is enlarged until the box fills most of the window.
export function zoom(address, alt, region = null) {
  if (dialog) return;
  let step = 0;
  const before = document.activeElement;
  const image = make("img", { src: address, alt });
  const stage = make("div", { class: "stage" }, image);
  const holder = make("div", { class: "holder", tabindex: 0, role: "group", "aria-label": alt }, stage);
  const scale = (change) => {
    step = Math.max(0, Math.min(STEPS.length - 1, step + change));
    holder.dataset.zoomed = step ? "yes" : "no";
    const middle = (holder.scrollLeft + holder.clientWidth / 2) / holder.scrollWidth;
    const height = (holder.scrollTop + holder.clientHeight / 2) / holder.scrollHeight;
    // At first fitted by the style sheet; then in steps relative to that size.
    if (!step) stage.style.width = stage.style.height = "";
    else {
      const fit = Math.min(holder.clientWidth / image.naturalWidth, holder.clientHeight / image.naturalHeight);
      stage.style.width = `${image.naturalWidth * fit * STEPS[step]}px`;
      stage.style.height = `${image.naturalHeight * fit * STEPS[step]}px`;
    }
    holder.scrollLeft = middle * holder.scrollWidth - holder.clientWidth / 2;
    holder.scrollTop = height * holder.scrollHeight - holder.clientHeight / 2;
    smaller.disabled = !step;
    larger.disabled = step === STEPS.length - 1;
  };
  const approach = () => {
    const [x, y, width, height] = region.box.map((side, at) => side / region.size[at % 2]);
    const fit = Math.min(holder.clientWidth / image.naturalWidth, holder.clientHeight / image.naturalHeight);
    const room = Math.min(
      holder.clientWidth / (image.naturalWidth * fit * width), holder.clientHeight / (image.naturalHeight * fit * height),
    );
    scale(STEPS.filter((one) => one <= FILLED * room).length - 1);
    holder.scrollLeft = (x + width / 2) * holder.scrollWidth - holder.clientWidth / 2;
    holder.scrollTop = (y + height / 2) * holder.scrollHeight - holder.clientHeight / 2;
  };
  const close = () => dialog.close();
  const press = (text, label, call) =>
    make("button", { type: "button", "aria-label": label, on: { click: call } }, text);
  const smaller = press("−", "Smaller", () => scale(-1));
  const larger = press("+", "Larger", () => scale(1));
  const bar = make("div", { class: "zoom-bar" }, region ? toggleButton() : "", smaller, larger, press("Close", "Close", close));
  dialog = make("dialog", { class: "zoom", "aria-label": "Enlarged image" }, bar, holder);
  dialog.addEventListener("keydown", (event) => {
    const change = { "+": 1, "=": 1, "-": -1, _: -1 }[event.key];
    if (change) scale(change);
    else if (event.key.toLowerCase() === "z") close();
    else if (event.key.toLowerCase() === "o" && region) toggleRegions();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  dialog.addEventListener("close", () => {
    dialog.remove();
    dialog = null;
    before?.focus({ preventScroll: true });
  });
  image.addEventListener("click", () => scale(step ? -STEPS.length : 2));
  document.body.append(dialog);
  dialog.showModal();
  scale(0);
  holder.focus();
  if (region) image.decode().then(() => {
    cover(stage, region);
    if (fits(image, region)) approach();
  }, () => {});
}
