// Lost tasks: their lease expired and another annotator has them, or they were submitted elsewhere.

// Keep the answers of a lost task and leave its page; the server decides what comes next.
export function lose(judge, token) {
  const task = judge.tasks.find((one) => one.token === token);
  judge.history.drop(token);
  if (!task) return;
  const lost = judge.keep.get("lost") ?? {};
  for (const [item, answer] of task.answers) if (answer) lost[item] = answer;
  judge.keep.set("lost", lost);
  if (judge.task === task) judge.view.idle("waiting");
  judge.tasks = judge.tasks.filter((one) => one !== task);
}

// Give the answers of a lost task again if the annotator has the same pairs now; report the rest.
export function recover(judge, task) {
  const lost = judge.keep.get("lost") ?? {};
  for (const { name, kind, status, item, code, details } of judge.outbox.refused()) {
    if (status !== 409 && status !== 410) continue;
    if (kind === "answer") lost[item] = { code, details };
    else if (kind === "withdraw") delete lost[item];
    judge.outbox.forget(name);
  }
  let carried = 0;
  for (const [name, answer] of Object.entries(lost)) {
    const item = Number(name);
    if (!task.answers.has(item)) continue;
    delete lost[name];
    if (task.answers.get(item)) continue;
    carried += 1;
    task.answers.set(item, answer);
    judge.outbox.add({ kind: "answer", token: task.token, item, ...answer, seconds: null });
  }
  judge.keep.set("lost", lost);
  judge.view.lost(judge.keep, carried);
}
