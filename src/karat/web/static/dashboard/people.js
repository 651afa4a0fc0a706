// One row for each person: what they did, and what it is worth.
import { $, make } from "../judge/dom.js";
import { table } from "./build.js";
import { interval } from "./charts.js";
import { ago, decimal, MISSING, percent, whole } from "./words.js";

function gold(one) {
  if (!one?.gold_items) return MISSING;
  const share = one.gold_right / one.gold_items;
  const words = `${one.gold_right} of ${one.gold_items} (${percent(one.gold_low)} to ${percent(one.gold_high)})`;
  return make("span", { class: "with-chart" }, interval(share, one.gold_low, one.gold_high, 0, 0.7), make("span", {}, words));
}

function flags(one) {
  return one?.flags.length ? make("span", { class: "flags" }, one.flags.map((flag) => make("span", { class: "tag off" }, flag))) : "";
}

export function people(live, statistics) {
  const known = new Map((statistics?.workers ?? []).map((one) => [one.worker, one]));
  const rows = live.people.map((one) => {
    const more = known.get(one.worker);
    const name = make("span", {}, make("bdi", {}, one.worker), one.kind === "person" ? "" : make("span", { class: "tag" }, one.kind));
    return [
      name, flags(more), whole(one.answers), whole(one.hand_ins), whole(one.hour), ago(one.last, live.at),
      more?.seconds === null || more?.seconds === undefined ? MISSING : `${decimal(more.seconds, 1)} s`, gold(more),
      more?.agreement === null || more?.agreement === undefined ? MISSING : `${percent(more.agreement)} (${percent(more.agreement_chance)})`,
      percent(more?.expected),
    ];
  });
  const heads = ["Who", "Look at", "Answers", "Hand-ins", "Last hour", "Last answer", "Median time", "Known pairs right", "Agrees (by chance)", "Expected right"];
  table($("people"), heads, rows, "Nobody has answered yet.");
  const cut = live.people_all > live.people.length ? `The ${live.people.length} with most answers of ${whole(live.people_all)}. ` : "";
  $("people-note").textContent = `${cut}Known pairs right: with a 95% interval; the stroke is the control rule's 70%. Agrees: how often another's answer about the same pair is the same. Flags say where to look, not whom to reject.`;
}
