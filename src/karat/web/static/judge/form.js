// The rules of a form; the server checks the same rules again.

const chosen = (value) => (Array.isArray(value) ? value : value ? [value] : []);

export function isAsked(question, code, details) {
  if (question.when.length && !question.when.includes(code)) return false;
  if (!question.after) return true;
  const at = question.after.indexOf(".");
  return chosen(details[question.after.slice(0, at)]).includes(question.after.slice(at + 1));
}

// The details without empty ones and questions that are not asked, in the form's order.
export function clean(form, code, details) {
  const kept = {};
  for (const question of form.follow_ups) {
    const value = details[question.code];
    if (chosen(value).length && isAsked(question, code, kept)) kept[question.code] = value;
  }
  return kept;
}

export function questions(form, answer) {
  return answer ? form.follow_ups.filter((one) => isAsked(one, answer.code, answer.details)) : [];
}

// The first required question without an answer.
export function lacking(form, answer) {
  return questions(form, answer).find((one) => one.required && !chosen(answer.details[one.code]).length);
}

export function isComplete(form, answer) {
  return Boolean(answer) && !lacking(form, answer);
}

export function isChosen(answer, question, code) {
  return Boolean(answer) && chosen(answer.details[question.code]).includes(code);
}

// The answer after a choice of a follow-up question was toggled.
export function toggled(form, answer, question, code) {
  const before = chosen(answer.details[question.code]);
  const has = before.includes(code);
  let value;
  if (question.kind === "one") value = has ? "" : code;
  else {
    const after = new Set(has ? before.filter((one) => one !== code) : [...before, code]);
    value = question.choices.map((one) => one.code).filter((one) => after.has(one));
  }
  return withDetail(form, answer, question, value);
}

export function withDetail(form, answer, question, value) {
  return { code: answer.code, details: clean(form, answer.code, { ...answer.details, [question.code]: value }) };
}

export function same(one, other) {
  return JSON.stringify(one ?? null) === JSON.stringify(other ?? null);
}
