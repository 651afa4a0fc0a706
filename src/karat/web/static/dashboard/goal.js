// The goal: estimates whose intervals narrow while answers arrive, the stop line, and the next pairs.
import { $, make } from "../dom.js";
import { send } from "../http.js";
import { onSubmit, sentence } from "../forms.js";
import { table } from "./build.js";
import { narrowing } from "./narrowing.js";
import { minus, MISSING, percent, plural, whole } from "./words.js";

const MOST_CHARTS = 6;
const DASHED = {
  width: "Stop when every interval is between its dashed lines.",
  winner: "Stop when the intervals of the differences leave the dashed line at 0.",
  budget: "The dashed line is the number of pairs.",
};
const PROMISE = (level) => `Estimates and intervals are in percent. An interval holds the score that labels of all pairs would give in ${level} of projects, at all moments together: look as often as you like. Curves begin with the first estimate since the server was started.`;
const SAVED = "“Plain random needs”: so many labels of pairs drawn at random, all alike, give an interval as wide, if no answer is wrong; “labels saved” is the difference.";
const number = (value) => (value === null || value === undefined ? MISSING : minus(100 * value, 2));
const bounds = (record) => (record.method === "bounds" ? " (bounds)" : "");
const ends = (record) => (record.low === null ? "not yet" : `${number(record.low)} to ${number(record.high)}${bounds(record)}`);

function rule(found) {
  if (found.rule === "width") return `Stop when every interval reaches at most ${number(found.number).replace(/\.?0+$/, "")} points to either side`;
  return found.rule === "winner" ? "Stop when it is known which run is best" : `Stop after ${plural(found.number, "pair")}`;
}

// Announced only when it changes.
function say(element, text) {
  element.hidden = !text;
  if (element.textContent !== text) element.textContent = text;
}

function charts(data) {
  const { history, estimate, goal: found, stop } = data;
  const budget = found.rule === "budget" ? found.number : null;
  const figure = (name, unit, points, more) => make("figure", { class: "chart", "data-run": name },
    make("figcaption", {}, make("bdi", {}, name), `: ${found.measure} in ${unit}`), narrowing(points, `${name}, ${found.measure} in ${unit}`, { budget, reached: stop, ...more }));
  const shown = estimate.runs.slice(0, MOST_CHARTS).map((record, at) => figure(record.run, "percent",
    history.map((point) => [point.labels, ...point.runs[at]]), { reach: found.rule === "width" ? found.number : null }));
  if (found.rule === "winner") {
    for (const [at, record] of estimate.differences.slice(0, MOST_CHARTS).entries()) {
      const name = `${record.run} minus ${record.other}`;
      shown.push(figure(name, "points", history.map((point) => [point.labels, ...point.differences[at]]), { zero: true }));
    }
  }
  $("goal-charts").replaceChildren(...(history.length ? shown : []));
}

function tables(estimate) {
  table($("goal-runs"), ["Run", "Estimate", `${percent(estimate.level)} interval`, "Labels", "Plain random needs", "Labels saved"],
    estimate.runs.map((record) => [record.run, number(record.low === null ? null : record.value), ends(record), `${whole(record.labels)} of ${whole(record.candidates)}`,
      record.plain === null ? MISSING : whole(record.plain), record.plain === null ? MISSING : saved(record)]));
  $("goal-beats").hidden = !estimate.differences.length;
  table($("goal-differences"), ["Comparison", "Verdict", "Difference", `${percent(estimate.level)} interval`], estimate.differences.map((record) => [
    make("span", {}, make("bdi", {}, record.run), " beats ", make("bdi", {}, record.other)),
    make("strong", { class: record.verdict === "yes" ? "good" : record.verdict === "no" ? "bad" : null }, record.verdict),
    number(record.low === null ? null : record.value), ends(record)]));
}

function saved(record) {
  const more = record.plain - record.labels;
  return more >= 0 ? `${whole(more)} (${percent(record.plain ? more / record.plain : 0)})` : `none (${whole(-more)} more)`;
}

export function goal(data) {
  const { goal: found, estimate, trouble } = data;
  const owner = Boolean($("set-goal"));
  $("goal").hidden = !found && !owner;
  $("goal").dataset.labels = estimate?.labels ?? "";
  $("goal-what").textContent = found
    ? `${found.measure}, ${found.ranking}, of ${found.runs.join(", ")}. ${rule(found)}, at ${percent(found.level)}. Answers ${found.noisy ? "may be wrong" : "count as right"}.`
    : "The project has no goal. With one, the scores of runs are estimated while answers arrive, and you see when to stop.";
  say($("goal-trouble"), trouble ? sentence(trouble) : "");
  const more = estimate?.more && !estimate.reached ? ` About ${plural(estimate.more, "more label")} will be needed.` : "";
  // Before pairs are drawn there is nothing to see but bounds.
  const drawn = Boolean(estimate?.drawn);
  say($("goal-said"), drawn ? sentence(estimate.sentence) + more : estimate ? `No pairs were drawn yet.${owner ? " Ask for some below: their answers tell how good the runs are." : ""}` : "");
  // The numbers change too often to be read aloud.
  say($("goal-news"), estimate?.reached ? "The goal is reached." : "");
  $("goal-said").dataset.reached = estimate?.reached ? "yes" : "no";
  for (const id of ["goal-charts", "goal-runs", "goal-differences", "goal-note", "goal-notes"]) $(id).hidden = !drawn;
  $("goal-beats").hidden = true;
  if (drawn) {
    $("goal-note").textContent = `${DASHED[found.rule]} ${PROMISE(percent(found.level))} ${SAVED}`;
    $("goal-notes").replaceChildren(...estimate.notes.map((note) => make("li", {}, sentence(note))));
    charts(data);
    tables(estimate);
  }
  if (!owner) return;
  $("ask").hidden = !found;
  $("set-goal-title").textContent = found ? "Change the goal" : "Set a goal";
  if ($("goal-remove")) $("goal-remove").hidden = !found;
  fill(found);
}

// Fill the form once: later events must not overwrite what the user chooses.
let filled = false;
function fill(found) {
  if (filled || !$("goal-form")) return;
  filled = true;
  $("set-goal").open = !found;
  if (!found) return;
  for (const box of $("goal-form").querySelectorAll("[name=runs]")) box.checked = found.runs.includes(box.value);
  for (const name of ["measure", "direction", "rule"]) $(`goal-${name}`).value = found[name];
  $("goal-level").value = String(found.level);
  $("goal-noisy").value = found.noisy ? "yes" : "no";
  chooseRule();
  if (found.number !== null) $("goal-number").value = found.rule === "width" ? Number((100 * found.number).toPrecision(6)) : found.number;
}

function chooseRule() {
  const chosen = $("goal-rule").value;
  $("goal-number-field").hidden = chosen === "winner";
  $("goal-number").required = chosen !== "winner";
  $("goal-number-label").textContent = chosen === "budget" ? "Pairs" : "Points to either side";
  $("goal-number").value = chosen === "budget" ? 500 : 2;
}

const STATES = { drawing: "Drawing pairs…", proposed: "Nothing is stored until you add them.", storing: "Adding them to the queue…", added: "They are in the queue." };

export function proposal(data) {
  const place = $("proposal");
  if (!place) return;
  place.dataset.state = data?.state ?? "none";
  $("ask-button").disabled = ["drawing", "storing"].includes(data?.state);
  const said = (data?.said ?? []).map((text) => make("p", {}, sentence(text)));
  if (STATES[data?.state]) said.push(make("p", {}, STATES[data.state]));
  const act = (method, path) => async (event) => {
    event.target.disabled = true;
    try {
      await send(method, path);
    } catch (error) {
      place.append(make("p", { class: "bad" }, sentence(error.message)));
    }
    event.target.disabled = false;
  };
  const buttons = data?.state !== "proposed" ? "" : make("div", { class: "row" },
    make("button", { type: "button", class: "main", id: "proposal-add", on: { click: act("POST", `/api/dashboard/goal/pairs/${data.number}`) } }, data.tasks ? "Add them to the queue" : "Use them"),
    make("button", { type: "button", id: "proposal-drop", on: { click: act("DELETE", "/api/dashboard/goal/pairs") } }, "Cancel"));
  place.replaceChildren(...said, buttons);
}

export function startGoal() {
  $("ask-number").addEventListener("input", () => {
    $("ask-button").textContent = `Ask for ${whole(Number($("ask-number").value) || 0)} more`;
  });
  onSubmit($("ask"), async (fields) => {
    await send("POST", "/api/dashboard/goal/pairs", { number: Number(fields.number), overlap: Number(fields.overlap) });
  });
  if (!$("goal-form")) return;
  $("goal-rule").addEventListener("change", chooseRule);
  onSubmit($("goal-form"), async (fields, form) => {
    const given = Number(fields.number);
    await send("PUT", "/api/dashboard/goal", {
      runs: new FormData(form).getAll("runs"), measure: fields.measure, direction: fields.direction, rule: fields.rule,
      number: fields.rule === "winner" ? null : fields.rule === "width" ? given / 100 : given, level: Number(fields.level), noisy: fields.noisy === "yes",
    });
    return "Saved. The estimate follows in a moment.";
  });
  $("goal-remove").addEventListener("click", () => send("DELETE", "/api/dashboard/goal").catch((error) => say($("goal-trouble"), sentence(error.message))));
}
