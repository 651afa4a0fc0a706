// Cues of what is out of sight: a line above a table or plot that is wider than its box, and a fade at its edge.

import { make } from "./dom.js";

function wording(box) {
  const columns = box.querySelector("table")?.tHead?.rows[0].cells.length;
  return `Scroll sideways to see ${columns > 2 ? `all ${columns - 1} columns` : columns ? "the whole table" : "all of the plot"} →`;
}

export function watchScroll(box) {
  const cue = make("p", { class: "cue", "aria-hidden": "true" });
  const update = () => {
    const hidden = box.scrollWidth - box.clientWidth;
    const wide = box.clientWidth > 0 && hidden > 2;
    box.dataset.more = wide && box.scrollLeft < hidden - 2 ? "right" : "none";
    if (!wide) {
      cue.remove();
      return;
    }
    cue.textContent = wording(box);
    if (cue.nextSibling !== box) box.before(cue);
    // Columns come to rest beside the first one, which stays, and not half below it.
    const first = box.querySelector("tbody th");
    box.style.scrollPaddingLeft = first ? `${first.offsetWidth}px` : "";
  };
  const later = () => requestAnimationFrame(update);
  const watcher = new ResizeObserver(later);
  watcher.observe(box);
  for (const child of box.children) watcher.observe(child);
  box.addEventListener("scroll", update, { passive: true });
}
