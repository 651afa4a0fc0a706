// The tiles, the progress and the pace.
import { $, make } from "../dom.js";
import { beside } from "./build.js";
import { bars, stacked } from "./charts.js";
import { moment, percent, plural, rate, whole } from "./words.js";

function money(cost) {
  if (cost.money === null) return "–";
  const shown = cost.money.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  return `${shown} ${cost.pay.currency}`.trim();
}

function hours(cost) {
  const untimed = cost.untimed ? `; ${plural(cost.untimed, "answer")} without a time counted as ${cost.typical} s each` : "";
  if (cost.pay?.per === "task") return `${plural(cost.submitted, "assignment")} paid, ${whole(cost.rejected)} rejected`;
  return `${cost.pay ? "" : "pay is not set; "}${cost.hours.toFixed(1)} hours of answering${untimed}`;
}

export function finish(live) {
  if (!live.answers.wanted) return ["–", "there are no tasks"];
  if (!live.left) return ["done", "all answers are complete"];
  if (live.stuck) return ["–", "no annotator can go on"];
  if (!live.pace.length) return ["unknown", "too few answers in the last 24 hours"];
  const first = live.pace[0];
  return [`${moment(first.soonest)} – ${moment(first.latest)}`, `at the pace of ${first.window}`];
}

// Announced only when it changes.
export function stuck(live) {
  const said = live.stuck
    ? `No annotator can go on: ${plural(live.stuck.open, "assignment")} ${live.stuck.open === 1 ? "is" : "are"} open, but every annotator has already done the task or seen one of its pairs. Invite at least ${plural(live.stuck.invite, "more annotator")}.`
    : "";
  $("stuck").hidden = !said;
  if ($("stuck").textContent !== said) $("stuck").textContent = said;
}

export function tiles(live) {
  const shown = [
    ["Answers", `${whole(live.answers.given)} of ${whole(live.answers.wanted)}`, `${percent(live.answers.wanted ? live.answers.given / live.answers.wanted : null)}${live.answers.elsewhere ? `, and ${whole(live.answers.elsewhere)} without a task` : ""}`, "answers"],
    ["Pairs", `${whole(live.pairs.done)} of ${whole(live.pairs.all)}`, `${whole(live.pairs.begun)} have an answer`, "pairs"],
    ["Tasks", `${whole(live.tasks.done)} of ${whole(live.tasks.all)}`, `${whole(live.tasks.begun)} begun`, "tasks"],
    ["Active in the last hour", plural(live.active, "annotator"), `${plural(live.assignments.leased, "assignment")} leased`, "active"],
    ["Cost so far", money(live.cost), hours(live.cost), "cost"],
    ["Expected finish", ...finish(live), "finish"],
  ];
  $("tiles").replaceChildren(...shown.map(([name, value, more, id]) =>
    make("div", { class: "tile", id: `tile-${id}` }, make("dt", {}, name), make("dd", { class: "value" }, value), make("dd", { class: "more" }, more))));
}

export function progress(live) {
  const assignments = [
    { name: "submitted", value: live.assignments.submitted, kind: "first" },
    { name: "leased", value: live.assignments.leased, kind: "second" },
    { name: "open", value: live.assignments.open, kind: "open" },
  ];
  beside(stacked(assignments), $("assignments-chart"), ["State", "Assignments"], assignments.map((record) => [record.name, whole(record.value)]));
  const sum = live.by_hour.reduce((all, record) => all + record, 0);
  const rows = live.by_hour.map((value, at) => [`${24 - at} to ${23 - at} hours ago`, whole(value)]);
  beside(bars(live.by_hour, `${plural(sum, "answer")} in the last 24 hours`, ["24 hours ago", "now"]), $("pace-chart"), ["Time", "Answers"], rows);
  const said = live.pace.map((record) =>
    `At the pace of ${record.window}, ${rate(record.rate)} answers per hour (95% interval ${rate(record.low)} to ${rate(record.high)}), judging finishes between ${moment(record.soonest)} and ${moment(record.latest)}.`);
  $("finish").textContent = live.left && !live.stuck ? said.join(" ") : "";
}
