// First results of queries: pictures, each kept once in the page's data, and the choice of a run.

import { chooseViews } from "./choosers.js";
import { report } from "./data.js";

function showPictures(found) {
  const at = new Map(found.wanted.map((image, k) => [String(image), k]));
  for (const element of document.querySelectorAll("img[data-image]")) {
    const k = at.get(element.dataset.image);
    const small = found.thumbnails.inline[k];
    const link = found.thumbnails.links[k];
    if (small) element.src = `data:image/webp;base64,${small}`;
    else if (link) element.src = link;
    // Without a picture the name is there, as it is for captions.
    else element.replaceWith(Object.assign(document.createElement("bdi"), { className: "words", textContent: element.alt }));
  }
}

export function startStrips() {
  const found = report.strips;
  if (!found) return;
  if (found.thumbnails) showPictures(found);
  const groups = [...document.querySelectorAll("[data-strips]")];
  const views = found.groups.map((group, k) => ({ key: [group.direction, group.run], number: k }));
  if (views.length) {
    chooseViews("strips", ["Direction", "System"], views, (view) => {
      groups.forEach((group, k) => { group.hidden = k !== view.number; });
    });
  }
}
