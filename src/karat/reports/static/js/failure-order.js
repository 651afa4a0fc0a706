// Which failures are shown, and in which order. Failures are numbers into the typed arrays.

export function metricOf(state, number) {
  return state.arrays[state.table.metrics[number].array];
}

export function shownMetric(value, unit) {
  if (Number.isNaN(value)) return "—";
  const options = { maximumFractionDigits: unit === "%" ? 1 : 3 };
  return unit === "%" ? `${(100 * value).toLocaleString("en", options)}%` : value.toLocaleString("en", options);
}

// What a search looks in: the caption that was asked or retrieved, and the ids.
function words(state, row) {
  const { names, table, arrays } = state;
  const [query, ground, retrieved] = [table.query, table.ground, table.retrieved].map((k) => arrays[k][row]);
  const parts = table.asks === 1
    ? [names.texts?.[query], names.captions[query], names.images[ground], names.images[retrieved]]
    : [names.texts?.[retrieved], names.texts?.[ground], names.captions[retrieved], names.images[query]];
  return parts.join("\n").toLowerCase();
}

export function filtered(state) {
  const { table, arrays } = state;
  const { rank, metric, low, high, mark, slice } = state.filter;
  const wanted = state.filter.words.toLowerCase().split(/\s+/).filter(Boolean);
  const kept = [];
  const ranks = arrays[table.rank];
  const unit = metric === "" ? "" : table.metrics[metric].unit;
  const values = metric === "" ? null : metricOf(state, metric);
  const scale = unit === "%" ? 100 : 1;
  // What is typed has as many digits as what is shown.
  const margin = unit === "%" ? 0.05 : 0.0005;
  const marks = table.marks.map((one) => arrays[one.array]);
  const inside = slice === "" ? null : arrays[table.slices[slice].array];
  for (let row = 0; row < table.rows; row += 1) {
    if (rank && ranks[row] !== rank) continue;
    if (values && (low !== null || high !== null)) {
      const value = scale * values[row];
      if (Number.isNaN(value) || (low !== null && value < low - margin) || (high !== null && value > high + margin)) continue;
    }
    if (mark === "none" ? marks.some((one) => one[row]) : mark !== "" && !marks[mark][row]) continue;
    if (inside && !inside[row]) continue;
    if (wanted.length) {
      const text = words(state, row);
      if (!wanted.every((word) => text.includes(word))) continue;
    }
    kept.push(row);
  }
  return Uint32Array.from(kept);
}

// What is not defined comes last, whichever way.
export function sorted(state, rows) {
  if (state.sort === "") return rows;
  const values = metricOf(state, state.sort);
  const sign = state.down ? -1 : 1;
  return rows.sort((a, b) => {
    const [x, y] = [values[a], values[b]];
    if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y) || a - b;
    return sign * (x - y) || a - b;
  });
}
