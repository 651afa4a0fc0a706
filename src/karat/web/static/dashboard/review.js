// Hand-ins that failed known pairs: looked at by somebody, then approved or rejected.
import { $, make } from "../judge/dom.js";
import { send } from "../http.js";
import { table } from "./build.js";
import { whole } from "./words.js";

const done = new Set();

function reason() {
  const dialog = $("reject");
  dialog.returnValue = "";
  $("reject-why").value = "wrong on known pairs";
  dialog.showModal();
  return new Promise((found) => dialog.addEventListener("close", () => {
    found(dialog.returnValue === "yes" ? { why: $("reject-why").value, ask_again: $("reject-again").checked } : null);
  }, { once: true }));
}

function buttons(one, failed) {
  const decide = (verdict) => async (event) => {
    const more = verdict === "reject" ? await reason() : {};
    if (more === null) return;
    event.target.disabled = true;
    try {
      await send("PUT", `/api/dashboard/hand-ins/${one.slot}`, { verdict, ...more });
      done.add(one.slot);
      event.target.closest("td").replaceChildren(verdict === "reject" ? "rejected" : "approved");
    } catch (error) {
      event.target.disabled = false;
      failed(error);
    }
  };
  return make("span", { class: "actions" },
    make("button", { type: "button", class: "quiet", "aria-label": `Approve hand-in ${one.slot}`, on: { click: decide("approve") } }, "Approve"),
    make("button", { type: "button", class: "quiet danger", "aria-label": `Reject hand-in ${one.slot}`, on: { click: decide("reject") } }, "Reject"));
}

export function review(found, owner, failed) {
  const left = (found.review ?? []).filter((one) => !done.has(one.slot));
  const rows = left.map((one) => {
    const wrong = one.wrong.map((bad) => make("li", {}, make("bdi", {}, bad.text || bad.image), make("small", {}, ` known ${bad.known}, said ${bad.answer}`)));
    const cells = [`${one.slot}`, make("bdi", {}, one.worker), `${one.right} of ${one.items}`, make("ul", { class: "wrong" }, wrong)];
    return owner ? [...cells, buttons(one, failed)] : cells;
  });
  // Buttons must not be pulled from under somebody's finger by a new count.
  if ($("review").contains(document.activeElement)) return;
  table($("review"), ["Hand-in", "Who", "Right", "Wrong on known pairs", ...(owner ? ["Decide"] : [])], rows, "None is waiting.");
  const all = found.review_all ?? 0;
  $("review-note").textContent = all > rows.length ? `The ${rows.length} with most wrong of ${whole(all)}.` : "";
}
