// Agreement, disagreements, the pool and machine judges: computed every minute, or less often where it takes long, and on request.
import { $, make } from "../dom.js";
import { url } from "../http.js";
import { beside, table } from "./build.js";
import { grid, interval, withEnds } from "./charts.js";
import { clock, decimal, percent, plural, whole } from "./words.js";

const owner = () => $("dashboard").dataset.owner === "yes";

export function agreement(data) {
  for (const record of document.querySelectorAll(".as-of")) {
    record.textContent = `Computed from the answers until ${clock(data.as_of)} in ${data.seconds.toFixed(1)} s.`;
  }
  const rows = (data.agreement ?? []).map((record) => [
    record.scale ? `${record.statistic}, ${record.scale}` : record.statistic, decimal(record.value), withEnds(record),
    interval(record.value, record.low, record.high, -0.2), record.couples === undefined ? "" : plural(record.couples, "pair of annotators", "pairs of annotators"),
  ]);
  table($("agreement"), ["Statistic", "Value", "95% interval", "Scale from −0.2 to 1", "Based on"], rows, data.error ? `Not available yet: ${data.error}.` : "Not available yet.");
  $("how").textContent = data.how ? `${data.answers}. Agreement is computed on ${plural(data.agreement_pairs, "pair")} with two or more answers. ${data.how}` : "";
  $("notes").replaceChildren(...(data.notes ?? []).map((note) => make("li", {}, note)));
  disagreements(data);
}

function disagreements(data) {
  const decided = data.verdicts?.[0]?.adjudicated ?? 0;
  const said = `${plural(data.disagreements, "pair")} with different answers, ${whole(decided)} decided.`;
  const link = owner() && data.disagreements ? make("a", { href: url("/adjudicate"), class: "button" }, "Decide") : "";
  $("disagree").replaceChildren(said, " ", link);
}

export function pool(data) {
  const pool = data.pool;
  if (!pool) {
    $("pool-note").textContent = "The project has no pool: its answers were imported.";
    return;
  }
  $("pool-note").textContent = `${plural(pool.pairs, "pair")} from the top ${pool.top} of ${plural(pool.systems.length, "model")}; ${whole(pool.judged)} judged (${percent(pool.pairs ? pool.judged / pool.pairs : null)}). ${pool.filled ? `${whole(pool.filled)} pairs fill up grids. ` : ""}A pair counts for each model and direction that ranks it.`;
  const rows = pool.systems.flatMap((record) => record.ranks.map((place) => [record.system, String(place.rank), whole(place.places), whole(place.judged), percent(place.places ? place.judged / place.places : null)]));
  beside(grid(pool.systems), $("pool-chart"), ["Model", "Rank", "Pairs", "Judged", "Share"], rows);
}

export function machines(data) {
  const rows = data.machines.map((record) => [
    record.judge, record.model, decimal(record.kappa.value), withEnds(record.kappa), record.people ? decimal(record.people.value) : "–",
    `${whole(record.answered)} of ${whole(record.asked)}`, record.objections.length ? make("span", { class: "tag off" }, record.objections.join("; ")) : "accepted",
  ]);
  table($("machines"), ["Machine judge", "Model", "Kappa with annotators", "95% interval", "Kappa of an annotator", "Answered", "Verdict"], rows, "No machine judge was calibrated yet.");
  $("machines-note").textContent = rows.length ? "Kappa of relevant or not relevant, against the median of the annotators; the intervals resample images." : "";
}
