// The dashboard: one stream of events, drawn as they come.
import { $ } from "../judge/dom.js";
import { send, url } from "../http.js";
import { sentence } from "../forms.js";
import { fillPay, jobs, startForms } from "./jobs.js";
import { people } from "./people.js";
import { progress, tiles } from "./progress.js";
import { agreement, machines, pool } from "./quality.js";
import { review } from "./review.js";
import { clock } from "./words.js";

const owner = $("dashboard").dataset.owner === "yes";
const now = { live: null, statistics: null };

// Said aloud only when it changes; the time beside it is not.
function say(state, text, at = "") {
  $("live").dataset.state = state;
  if ($("live-said").textContent !== text) $("live-said").textContent = text;
  $("live-at").textContent = at;
}

function failed(error) {
  $("said").textContent = sentence(error.message);
  $("said").hidden = false;
}

const EVENTS = {
  live(found) {
    now.live = found;
    say("on", "Live", clock(found.at));
    $("said").hidden = true;
    tiles(found);
    progress(found);
    people(found, now.statistics);
    fillPay(found.cost.pay);
  },
  statistics(found) {
    now.statistics = found;
    agreement(found);
    pool(found);
    machines(found);
    review(found, owner, failed);
    if (now.live) people(now.live, found);
    document.documentElement.dataset.ready = "yes";
  },
  jobs,
  trouble: (found) => failed({ message: found.said }),
};

function listen() {
  const stream = new EventSource(url("/api/dashboard/stream"));
  for (const [name, show] of Object.entries(EVENTS)) {
    stream.addEventListener(name, (event) => show(JSON.parse(event.data)));
  }
  stream.addEventListener("ended", () => {
    stream.close();
    say("off", "Signed out: reload the page.");
  });
  stream.addEventListener("error", () => {
    // The browser tries again by itself unless the server refused.
    if (stream.readyState === EventSource.CLOSED) {
      say("off", "Not live: trying again soon.");
      setTimeout(listen, 10_000);
    } else {
      say("waiting", "Connection lost: trying again…");
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
if (owner) startForms();
listen();
