// The keyboard: the form's own keys go to the page, the others are the same in every form.

const WRITES = "textarea, input:not([type=checkbox]):not([type=radio]), select";
const PRESSES = "button, a[href], summary, [role=button]";

// `page()` is the page on screen; `calls` are undo, redo, next, previous, zoom, guide and keys, regions where the
// form has them, and `covered`, which tells whether the guidelines cover the page: then keys must not answer.
export function listen(page, calls) {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || document.querySelector("dialog[open]")) return;
    if (handle(event, page(), calls)) event.preventDefault();
  });
}

function handle(event, page, calls) {
  const name = event.key.toLowerCase();
  const { target } = event;
  const command = (event.ctrlKey || event.metaKey) && !event.getModifierState("AltGraph");
  if (target.matches?.(WRITES)) {
    if (name === "enter" && !event.shiftKey && page) return done(() => page.confirm());
    if (name === "escape") return done(() => page?.focus() ?? target.blur());
    return false;
  }
  if (command) {
    if (event.altKey) return false;
    if (name === "z") return done(event.shiftKey ? calls.redo : calls.undo);
    return name === "y" ? done(calls.redo) : false;
  }
  if (event.altKey && !event.getModifierState("AltGraph")) return false;
  if (calls.covered()) return name === "h" ? done(calls.guide) : false;
  // A key that is held down counts once, except for moving.
  if (event.repeat && (name === "enter" || (name.length === 1 && name !== " "))) return true;
  if (name === "enter") {
    if (target.matches?.(PRESSES) || !page) return false;
    return done(() => page.confirm());
  }
  const own = {
    u: event.shiftKey ? calls.redo : calls.undo, n: calls.next, p: calls.previous, z: calls.zoom, h: calls.guide,
    "?": calls.keys, o: calls.regions, arrowright: calls.next, arrowleft: calls.previous,
  }[name];
  if (own && !(name.startsWith("arrow") && target.matches?.("input[type=radio]"))) return done(own);
  if (target.matches?.("input[type=radio]") && name.startsWith("arrow")) return false;
  return Boolean(page?.press(name));
}

function done(call) {
  call();
  return true;
}
