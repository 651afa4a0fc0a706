// Paper does not scroll: a table with more columns than a page holds is printed as several, below each other.

const MOST = 8;
const MOST_DENSE = 20;

function part(table, begin, most, columns) {
  const copy = table.cloneNode(true);
  for (const row of [...copy.rows]) {
    if (row.cells.length < columns) {
      // One cell over the whole width: what an opened row shows, once.
      if (begin > 1) row.remove();
      else row.cells[0].colSpan = 1 + most;
      continue;
    }
    [...row.cells].forEach((cell, k) => { if (k > 0 && (k < begin || k >= begin + most)) cell.remove(); });
  }
  const last = Math.min(begin + most, columns) - 1;
  copy.caption?.append(` (columns ${begin} to ${last} of ${columns - 1})`);
  return copy;
}

export function splitTables() {
  const added = [];
  for (const table of document.querySelectorAll(".scroll > table")) {
    const columns = table.tHead?.rows[0]?.cells.length ?? 0;
    const most = table.classList.contains("dense") ? MOST_DENSE : MOST;
    if (columns - 1 <= most) continue;
    table.classList.add("split");
    let after = table;
    for (let begin = 1; begin < columns; begin += most) {
      const copy = part(table, begin, most, columns);
      copy.classList.remove("split");
      copy.classList.add("part");
      after.after(copy);
      added.push(copy);
      after = copy;
    }
  }
  return () => {
    for (const copy of added) copy.remove();
    for (const table of document.querySelectorAll("table.split")) table.classList.remove("split");
  };
}

export function watchPaper() {
  let back = null;
  window.addEventListener("beforeprint", () => { back?.(); back = splitTables(); });
  window.addEventListener("afterprint", () => { back?.(); back = null; });
}
