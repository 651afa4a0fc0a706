// Submitted assignments with wrong gold: the owner looks at them, then approves or rejects.
import { $, make } from "../dom.js";
import { ask } from "../forms.js";
import { send } from "../http.js";
import { table } from "./build.js";
import { whole } from "./words.js";

// What was decided on this page, by assignment: it stays in the table until the page is left.
const decided = new Map();

async function reason() {
  const yes = await ask($("reject"), () => { $("reject-why").value = "wrong on gold pairs"; });
  return yes ? { why: $("reject-why").value, ask_again: $("reject-again").checked } : null;
}

function buttons(record, failed, redraw) {
  const decide = (verdict) => async (event) => {
    const more = verdict === "reject" ? await reason() : {};
    if (more === null) return;
    event.target.disabled = true;
    try {
      await send("PUT", `/api/dashboard/assignments/${record.assignment}`, { verdict, ...more });
      decided.set(record.assignment, { record, word: verdict === "reject" ? "rejected" : "approved" });
      redraw();
    } catch (error) {
      event.target.disabled = false;
      failed(error);
    }
  };
  return make("span", { class: "actions" },
    make("button", { type: "button", class: "quiet", "aria-label": `Approve assignment ${record.assignment}`, on: { click: decide("approve") } }, "Approve"),
    make("button", { type: "button", class: "quiet danger", "aria-label": `Reject assignment ${record.assignment}`, on: { click: decide("reject") } }, "Reject"));
}

export function review(data, owner, failed) {
  // A new event must not replace a button that has the focus.
  if ($("review").contains(document.activeElement)) return;
  draw(data, owner, failed);
}

function draw(data, owner, failed) {
  const left = (data.review ?? []).filter((record) => !decided.has(record.assignment));
  const row = (record, last) => {
    const wrong = record.wrong.map((bad) => make("li", {}, make("bdi", {}, bad.text || bad.image), make("small", {}, ` gold: ${bad.known}, answer: ${bad.answer}`)));
    const cells = [`${record.assignment}`, make("bdi", {}, record.annotator), `${record.right} of ${record.items}`, make("ul", { class: "wrong" }, wrong)];
    return owner ? [...cells, last] : cells;
  };
  const redraw = () => draw(data, owner, failed);
  const rows = [
    ...left.map((record) => row(record, buttons(record, failed, redraw))),
    ...[...decided.values()].map(({ record, word }) => row(record, word)),
  ];
  table($("review"), ["Assignment", "Annotator", "Gold right", "Wrong answers", ...(owner ? ["Review"] : [])], rows, "There are none to review.");
  const all = data.review_all ?? 0;
  $("review-note").textContent = all > left.length ? `The ${left.length} with the most wrong answers, of ${whole(all)}.` : "";
}
