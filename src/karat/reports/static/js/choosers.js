// Lists to choose from above a plot or table: one per axis of the section's views.

import { make } from "./dom.js";

let fieldNumber = 0;

// A labelled list. `options` are [value, text].
export function listBox(label, options, chosen, onChange) {
  fieldNumber += 1;
  const id = `field-${fieldNumber}`;
  const select = make("select", { id, on: { change: () => onChange(select.value) } });
  for (const [value, text] of options) select.append(make("option", { value, dir: "auto" }, text));
  select.value = chosen;
  return { box: make("div", { class: "field" }, make("label", { for: id }, label), select), select };
}

export function holderOf(name) {
  return document.querySelector(`[data-choosers="${name}"]`);
}

// Lists for every axis; a combination that does not exist gives way to the nearest one that does.
export function chooseViews(name, axes, views, show) {
  const holder = holderOf(name);
  let current = views[0];
  const fields = axes.map((axis, at) => {
    const values = [...new Set(views.map((view) => view.key[at]))];
    const field = listBox(axis, values.map((value) => [value, value]), current.key[at], (value) => choose(at, value));
    if (values.length > 1) holder.append(field.box);
    return field;
  });

  function choose(at, value) {
    let best = null;
    let most = -1;
    for (const view of views) {
      if (view.key[at] !== value) continue;
      const same = view.key.filter((part, k) => part === current.key[k]).length;
      if (same > most) [best, most] = [view, same];
    }
    current = best;
    fields.forEach((field, k) => { field.select.value = current.key[k]; });
    show(current);
  }

  show(current);
}
