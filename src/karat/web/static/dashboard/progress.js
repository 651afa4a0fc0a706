// Tiles, progress and pace.
import { $, make } from "../judge/dom.js";
import { beside } from "./build.js";
import { bars, stacked } from "./charts.js";
import { moment, percent, plural, rate, whole } from "./words.js";

function money(cost) {
  if (cost.money === null) return "not set";
  const shown = cost.money.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  return `${shown} ${cost.pay.currency}`.trim();
}

function hours(cost) {
  const untimed = cost.untimed ? `, ${plural(cost.untimed, "answer")} without a time counted as ${cost.typical} s` : "";
  if (cost.pay?.per === "task") return `${plural(cost.hand_ins, "hand-in")}, ${whole(cost.rejected)} rejected ones unpaid`;
  return `${cost.hours.toFixed(1)} hours of answering${untimed}`;
}

export function finish(live) {
  if (!live.answers.wanted) return ["–", "there are no tasks"];
  if (!live.left) return ["done", "every answer is there"];
  if (!live.pace.length) return ["unknown", "too few answers in the last day to tell"];
  const first = live.pace[0];
  return [`${moment(first.soonest)} – ${moment(first.latest)}`, `at the pace of ${first.window}`];
}

export function tiles(live) {
  const shown = [
    ["Answers", `${whole(live.answers.given)} of ${whole(live.answers.wanted)}`, `${percent(live.answers.wanted ? live.answers.given / live.answers.wanted : null)}${live.answers.elsewhere ? `, and ${whole(live.answers.elsewhere)} without a task` : ""}`, "answers"],
    ["Pairs", `${whole(live.pairs.done)} of ${whole(live.pairs.all)}`, `${whole(live.pairs.begun)} have an answer`, "pairs"],
    ["Tasks", `${whole(live.tasks.done)} of ${whole(live.tasks.all)}`, `${whole(live.tasks.begun)} begun`, "tasks"],
    ["People in the last hour", whole(live.active), `${plural(live.slots.leased, "task")} in hand`, "active"],
    ["Cost so far", money(live.cost), hours(live.cost), "cost"],
    ["Expected finish", ...finish(live), "finish"],
  ];
  $("tiles").replaceChildren(...shown.map(([name, value, more, id]) =>
    make("div", { class: "tile", id: `tile-${id}` }, make("dt", {}, name), make("dd", { class: "value" }, value), make("dd", { class: "more" }, more))));
}

export function progress(live) {
  const slots = [
    { name: "handed in", value: live.slots.submitted, kind: "first" },
    { name: "in hand", value: live.slots.leased, kind: "second" },
    { name: "open", value: live.slots.open, kind: "open" },
  ];
  beside(stacked(slots), $("slots-chart"), ["State", "Number"], slots.map((one) => [one.name, whole(one.value)]));
  const sum = live.by_hour.reduce((all, one) => all + one, 0);
  const rows = live.by_hour.map((value, at) => [`${24 - at} to ${23 - at} hours ago`, whole(value)]);
  beside(bars(live.by_hour, `${plural(sum, "answer")} in the last day`, ["24 hours ago", "now"]), $("pace-chart"), ["When", "Answers"], rows);
  const said = live.pace.map((one) =>
    `At the pace of ${one.window}, ${rate(one.rate)} answers an hour (${rate(one.low)} to ${rate(one.high)}), the last would be there between ${moment(one.soonest)} and ${moment(one.latest)}.`);
  $("finish").textContent = live.left ? said.join(" ") : "";
}
