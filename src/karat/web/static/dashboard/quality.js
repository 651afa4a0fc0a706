// Agreement, disagreements, the pool, machine judges: what is computed every minute or when asked.
import { $, make } from "../judge/dom.js";
import { url } from "../http.js";
import { beside, table } from "./build.js";
import { grid, interval, withEnds } from "./charts.js";
import { clock, decimal, percent, plural, whole } from "./words.js";

const owner = () => $("dashboard").dataset.owner === "yes";

export function agreement(found) {
  for (const one of document.querySelectorAll(".as-of")) {
    one.textContent = `As of ${clock(found.as_of)}, computed in ${found.seconds.toFixed(1)} s.`;
  }
  const rows = (found.agreement ?? []).map((one) => [
    one.scale ? `${one.statistic}, ${one.scale}` : one.statistic, decimal(one.value), withEnds(one),
    interval(one.value, one.low, one.high, -0.2), one.couples === undefined ? "" : plural(one.couples, "pair of people", "pairs of people"),
  ]);
  table($("agreement"), ["Statistic", "Value", "95% interval", "From −0.2 to 1", ""], rows, found.said ? `Not yet: ${found.said}.` : "Not yet.");
  $("how").textContent = found.how ? `${found.answers}. On ${plural(found.agreement_pairs, "pair")} with two answers or more. ${found.how}` : "";
  $("notes").replaceChildren(...(found.notes ?? []).map((note) => make("li", {}, note)));
  disagreements(found);
}

function disagreements(found) {
  const decided = found.verdicts?.[0]?.adjudicated ?? 0;
  const said = `${plural(found.disagreements, "pair")} with different answers, ${whole(decided)} decided.`;
  const link = owner() && found.disagreements ? make("a", { href: url("/adjudicate"), class: "button" }, "Decide") : "";
  $("disagree").replaceChildren(said, " ", link);
}

export function pool(found) {
  const pool = found.pool;
  if (!pool) {
    $("pool-note").textContent = "The project has no pool: its answers come from elsewhere.";
    return;
  }
  $("pool-note").textContent = `${plural(pool.pairs, "pair")} from the top ${pool.top} of ${plural(pool.systems.length, "system")}; ${whole(pool.judged)} judged (${percent(pool.pairs ? pool.judged / pool.pairs : null)}). ${pool.filled ? `${whole(pool.filled)} fill up grids. ` : ""}A pair counts for each system and direction that ranks it.`;
  const rows = pool.systems.flatMap((one) => one.ranks.map((place) => [one.system, String(place.rank), whole(place.places), whole(place.judged), percent(place.places ? place.judged / place.places : null)]));
  beside(grid(pool.systems), $("pool-chart"), ["System", "Rank", "Places", "Judged", "Share"], rows);
}

export function machines(found) {
  const rows = found.machines.map((one) => [
    one.judge, one.model, decimal(one.kappa.value), withEnds(one.kappa), one.people ? decimal(one.people.value) : "–",
    `${whole(one.answered)} of ${whole(one.asked)}`, one.objections.length ? make("span", { class: "tag off" }, one.objections.join("; ")) : "fit to be used",
  ]);
  table($("machines"), ["Judge", "Model", "Kappa with people", "95% interval", "A person's kappa", "Answered", "Verdict"], rows, "None was compared with people.");
  $("machines-note").textContent = rows.length ? "Kappa of relevant or not, against the median of people; images are drawn together." : "";
}
