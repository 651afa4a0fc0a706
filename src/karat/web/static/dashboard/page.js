// The dashboard: draws the events of one stream as they arrive.
import { $ } from "../dom.js";
import { send, url } from "../http.js";
import { sentence } from "../forms.js";
import { annotators } from "./annotators.js";
import { goal, proposal, startGoal } from "./goal.js";
import { fillPay, jobs, startForms } from "./jobs.js";
import { progress, stuck, tiles } from "./progress.js";
import { agreement, machines, pool } from "./quality.js";
import { review } from "./review.js";
import { clock, computing } from "./words.js";

const owner = $("dashboard").dataset.owner === "yes";
const now = { live: null, statistics: null };

// Announced only when it changes; the time beside it is not.
function say(state, text, at = "") {
  $("live").dataset.state = state;
  if ($("live-said").textContent !== text) $("live-said").textContent = text;
  $("live-at").textContent = at;
}

function failed(error) {
  $("said").textContent = sentence(error.message);
  $("said").hidden = false;
}

// What the server computes now, and when it said so: the seconds go on between its words.
const going = { at: 0, data: {} };

function tellComputing() {
  const since = (performance.now() - going.at) / 1000;
  for (const place of document.querySelectorAll(".computing")) {
    const progress = going.data[place.dataset.of];
    place.hidden = !progress;
    if (progress) place.textContent = `${place.dataset.name}: ${computing(progress, progress.seconds + since)}`;
  }
}

const EVENTS = {
  live(data) {
    now.live = data;
    say("on", "Live", clock(data.at));
    $("said").hidden = true;
    stuck(data);
    tiles(data);
    progress(data);
    annotators(data, now.statistics);
    fillPay(data.cost.pay);
  },
  statistics(data) {
    now.statistics = data;
    agreement(data);
    pool(data);
    machines(data);
    review(data, owner, failed);
    if (now.live) annotators(now.live, data);
    document.documentElement.dataset.ready = "yes";
  },
  computing(data) {
    going.at = performance.now();
    going.data = data;
    tellComputing();
  },
  goal,
  proposal,
  jobs,
  trouble: (data) => failed({ message: data.message }),
};

function listen() {
  const stream = new EventSource(url("/api/dashboard/stream"));
  for (const [name, show] of Object.entries(EVENTS)) {
    stream.addEventListener(name, (event) => show(JSON.parse(event.data)));
  }
  stream.addEventListener("ended", () => {
    stream.close();
    say("off", "You are signed out. Reload the page to sign in again.");
  });
  stream.addEventListener("error", () => {
    // The browser reconnects by itself unless the server refused.
    if (stream.readyState === EventSource.CLOSED) {
      say("off", "Not live. Trying again soon.");
      setTimeout(listen, 10_000);
    } else {
      say("waiting", "Connection lost. Trying again…");
    }
  });
  window.addEventListener("pagehide", () => stream.close(), { once: true });
}

$("recount").addEventListener("click", async (event) => {
  event.target.disabled = true;
  try {
    await send("POST", "/api/dashboard/statistics");
  } catch (error) {
    failed(error);
  }
  setTimeout(() => (event.target.disabled = false), 5000);
});
if (owner) {
  startForms();
  startGoal();
}
setInterval(tellComputing, 1000);
listen();
