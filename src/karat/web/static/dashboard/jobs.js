// Publishing and exporting: the forms, and the list of jobs.
import { $, make } from "../dom.js";
import { send, url } from "../http.js";
import { onSubmit, sentence } from "../forms.js";

const STATES = { waiting: "waiting", running: "running", done: "done", failed: "failed" };

function job(record) {
  const took = record.seconds === null ? "" : `, ${record.seconds.toFixed(0)} s`;
  const bar = record.state === "running" || record.state === "waiting" ? make("progress", { "aria-label": record.title }) : "";
  const said = record.error ?? (record.state === "running" ? record.step : record.message) ?? "";
  const file = record.file ? make("a", { class: "button", href: url(`/api/dashboard/jobs/${record.number}/file`), download: record.file }, `Download ${record.file}`) : "";
  const notes = record.notes.length ? make("ul", { class: "notes" }, record.notes.map((note) => make("li", {}, note))) : "";
  return make("li", { "data-state": record.state, "data-job": record.number },
    make("strong", {}, make("bdi", {}, record.title)), " ", make("span", { class: record.state === "failed" ? "tag off" : "tag" }, `${STATES[record.state]}${took}`),
    bar, said ? make("p", { class: record.error ? "bad" : "" }, sentence(said)) : "", notes, file);
}

export function jobs(data) {
  if (!$("jobs")) return;
  $("jobs").replaceChildren(...(data.jobs.length ? data.jobs.map(job) : [make("li", { class: "empty" }, "There are no jobs since the server started.")]));
  $("published").replaceChildren(...(data.published.length ? [make("h3", {}, "Published so far"), make("ul", { class: "notes" }, data.published.map((name) =>
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
    return "Saved.";
  });
}

// Fill the form once: later events must not overwrite what the user types.
let filled = false;
export function fillPay(pay) {
  if (filled || !pay || !$("pay")) return;
  filled = true;
  $("pay-amount").value = pay.amount;
  $("pay-per").value = pay.per;
  $("pay-fee").value = Math.round(pay.fee * 1e6) / 1e4;
  $("pay-currency").value = pay.currency;
}
