// Leases: renewed while the annotator works, and returned unfinished.
import { call, passes } from "./api.js";

const EVERY = 300000;
const LOOK = 15000;

// Leases are renewed while there are key presses or clicks; otherwise they expire.
export function holdWhileActive(judge, supply) {
  let active = Date.now();
  let renewed = Date.now();
  for (const event of ["keydown", "pointerdown"]) {
    document.addEventListener(event, () => { active = Date.now(); }, { passive: true });
  }
  setInterval(async () => {
    const every = Math.min(EVERY, (judge.task?.span ?? EVERY) / 3);
    if (!judge.task || Date.now() - renewed < every || Date.now() - active > EVERY) return;
    renewed = Date.now();
    for (const { token } of [...judge.tasks]) {
      try {
        await call("POST", "renew", { token });
      } catch (error) {
        if (error.status === 409) supply.refresh();
        // The next look tries again.
        else if (passes(error)) renewed = 0;
      }
    }
  }, LOOK);
}

// Return the current task unfinished. Unsent answers in it are dropped: they would not count.
export async function returnTask(judge, supply) {
  const token = judge.task?.token;
  if (!token) return;
  try {
    await call("POST", "release", { token });
  } catch (error) {
    judge.say(error.message);
    return;
  }
  for (const { name, token: other } of judge.outbox.waiting()) if (other === token) judge.outbox.forget(name);
  judge.history.drop(token);
  judge.tasks = judge.tasks.filter((task) => task.token !== token);
  supply.stop();
  if (judge.task) judge.show(Math.max(0, judge.task.open()));
  else await supply.more();
}
