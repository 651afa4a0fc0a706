// Publishing and exporting, and what became of it.
import { $, make } from "../judge/dom.js";
import { send, url } from "../http.js";
import { onSubmit, sentence } from "../forms.js";

const STATES = { waiting: "waits", running: "running", done: "done", failed: "failed" };

function job(one) {
  const took = one.seconds === null ? "" : `, ${one.seconds.toFixed(0)} s`;
  const bar = one.state === "running" || one.state === "waiting" ? make("progress", { "aria-label": one.title }) : "";
  const said = one.error ?? (one.state === "running" ? one.step : one.said) ?? "";
  const file = one.file ? make("a", { class: "button", href: url(`/api/dashboard/jobs/${one.number}/file`), download: one.file }, `Download ${one.file}`) : "";
  const notes = one.notes.length ? make("ul", { class: "notes" }, one.notes.map((note) => make("li", {}, note))) : "";
  return make("li", { "data-state": one.state, "data-job": one.number },
    make("strong", {}, make("bdi", {}, one.title)), " ", make("span", { class: one.state === "failed" ? "tag off" : "tag" }, `${STATES[one.state]}${took}`),
    bar, said ? make("p", { class: one.error ? "bad" : "" }, sentence(said)) : "", notes, file);
}

export function jobs(found) {
  if (!$("jobs")) return;
  $("jobs").replaceChildren(...(found.jobs.length ? found.jobs.map(job) : [make("li", { class: "empty" }, "None since the server started.")]));
  $("published").replaceChildren(...(found.published.length ? [make("h3", {}, "Published so far"), make("ul", { class: "notes" }, found.published.map((name) =>
    make("li", {}, make("a", { href: url(`/api/dashboard/published/${encodeURIComponent(name)}`), download: `${name}.zip` }, make("bdi", {}, name)))))] : []));
}

export function startForms() {
  onSubmit($("publish"), async (fields) => {
    await send("POST", "/api/dashboard/jobs/publish", { ...fields, approved_only: fields.approved_only === "yes" });
  });
  onSubmit($("export"), async (fields) => {
    await send("POST", "/api/dashboard/jobs/export", fields);
  });
  onSubmit($("pay"), async (fields) => {
    await send("PUT", "/api/dashboard/pay", { ...fields, amount: Number(fields.amount), fee: Number(fields.fee) / 100 });
  });
}

// What is kept goes into the form once, not over what somebody types.
let filled = false;
export function fillPay(pay) {
  if (filled || !pay || !$("pay")) return;
  filled = true;
  $("pay-amount").value = pay.amount;
  $("pay-per").value = pay.per;
  $("pay-fee").value = Math.round(pay.fee * 1e6) / 1e4;
  $("pay-currency").value = pay.currency;
}
