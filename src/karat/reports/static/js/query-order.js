// Which queries are shown, and in which order. Rows are numbers into the typed arrays.

export function valuesOf(state, run) {
  return state.arrays[state.table.measures[state.measure].arrays[run]];
}

export function askingSide(state) {
  return state.sides[state.table.asks];
}

export function idOf(state, row) {
  return askingSide(state).ids[state.arrays[state.table.query][row]];
}

export function textOf(state, row) {
  return askingSide(state).texts?.[state.arrays[state.table.query][row]] ?? "";
}

// Good is high: ranks change their sign, what is not known is worst.
function goodness(value, measure) {
  if (Number.isNaN(value)) return -Infinity;
  return measure.better === "low" ? -value : value;
}

function perfect(value, measure) {
  return measure.unit === "rank" ? value === 1 : value >= 0.99995;
}

function differ(state, row, columns, measure) {
  const hits = columns.map((values) => perfect(values[row], measure));
  return hits.some(Boolean) && !hits.every(Boolean);
}

const KEEP = {
  all: () => true,
  differ: (state, row, columns, measure) => differ(state, row, columns, measure),
  solved: (state, row, columns, measure) => columns.every((values) => perfect(values[row], measure)),
  failed: (state, row, columns, measure) => !columns.some((values) => perfect(values[row], measure)),
};

export function filtered(state) {
  const measure = state.table.measures[state.measure];
  const columns = state.runs.map((_, run) => valuesOf(state, run));
  const words = state.words.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  const keep = KEEP[state.show];
  const rows = [];
  for (let row = 0; row < state.table.rows; row += 1) {
    if (!keep(state, row, columns, measure)) continue;
    if (words.length) {
      const text = `${idOf(state, row)} ${textOf(state, row)}`.toLocaleLowerCase();
      if (!words.every((word) => text.includes(word))) continue;
    }
    rows.push(row);
  }
  return Uint32Array.from(rows);
}

// Whether the numbers or letters that the sorted column shows fall. `down` means that good ones come first, and
// the best ranks are the lowest.
export function falling(state) {
  const ofRun = !["number", "query", "count"].includes(state.sort);
  const lowIsGood = ofRun && state.table.measures[state.measure].better === "low";
  return lowIsGood ? !state.down : state.down;
}

export function sorted(state, rows) {
  const sign = state.down ? -1 : 1;
  if (state.sort === "number") return state.down ? rows.reverse() : rows;
  if (state.sort === "query") {
    const texts = new Map();
    for (const row of rows) texts.set(row, textOf(state, row) || idOf(state, row));
    const order = new Intl.Collator(undefined, { numeric: true });
    return rows.sort((a, b) => sign * order.compare(texts.get(a), texts.get(b)) || a - b);
  }
  const keys = new Float64Array(state.table.rows);
  const measure = state.table.measures[state.measure];
  if (state.sort === "count") keys.set(state.arrays[state.table.count]);
  else {
    const values = valuesOf(state, Number(state.sort));
    for (const row of rows) keys[row] = goodness(values[row], measure);
  }
  return rows.sort((a, b) => (keys[a] === keys[b] ? a - b : sign * (keys[a] < keys[b] ? -1 : 1)));
}
