// A row per annotator: what they did, and their quality.
import { $, make } from "../dom.js";
import { kindTag, table } from "./build.js";
import { interval } from "./charts.js";
import { ago, decimal, MISSING, percent, whole } from "./words.js";

function gold(record) {
  if (!record?.gold_items) return MISSING;
  const share = record.gold_right / record.gold_items;
  const words = `${record.gold_right} of ${record.gold_items} (${percent(record.gold_low)} to ${percent(record.gold_high)})`;
  return make("span", { class: "with-chart" }, interval(share, record.gold_low, record.gold_high, 0, 0.7), make("span", {}, words));
}

function flags(record) {
  return record?.flags.length ? make("span", { class: "flags" }, record.flags.map((flag) => make("span", { class: "tag off" }, flag))) : "";
}

export function annotators(live, statistics) {
  // Records of the quality report keep the column names of `karat project quality --json`.
  const known = new Map((statistics?.annotators ?? []).map((record) => [record.worker, record]));
  const rows = live.annotators.map((record) => {
    const more = known.get(record.annotator);
    const name = make("span", {}, make("bdi", {}, record.annotator), kindTag(record.kind));
    return [
      name, flags(more), whole(record.answers), whole(record.submitted), whole(record.hour), ago(record.last, live.at),
      more?.seconds === null || more?.seconds === undefined ? MISSING : `${decimal(more.seconds, 1)} s`, gold(more),
      more?.agreement === null || more?.agreement === undefined ? MISSING : `${percent(more.agreement)} (${percent(more.agreement_chance)})`,
      percent(more?.expected),
    ];
  });
  if (rows.every((cells) => cells.at(-1) === MISSING)) for (const cells of rows) cells.pop();
  const heads = ["Annotator", "Flags", "Answers", "Assignments", "Last hour", "Last answer", "Median time", "Gold right", "Agreement (by chance)", "Expected right"].slice(0, rows[0]?.length);
  table($("annotators"), heads, rows, "There are no answers yet.");
  const cut = live.annotators_total > live.annotators.length ? `The ${live.annotators.length} annotators with the most answers, of ${whole(live.annotators_total)}. ` : "";
  $("annotators-note").textContent = !rows.length ? "" : `${cut}Gold right: with its 95% interval; the line marks the 70% of the gold check. Agreement: how often another annotator gave the same answer about the same pair. Flags tell where to look, not whom to reject.`;
}
