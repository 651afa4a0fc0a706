// Light and dark: what the system says, unless the reader chose.

const root = document.documentElement;
const system = window.matchMedia("(prefers-color-scheme: dark)");
const watchers = [];

export function isDark() {
  return root.dataset.theme ? root.dataset.theme === "dark" : system.matches;
}

export function onThemeChange(call) {
  watchers.push(call);
}

function changed() {
  const button = document.getElementById("theme");
  button.textContent = isDark() ? "Light" : "Dark";
  button.setAttribute("aria-label", isDark() ? "Switch to light colours" : "Switch to dark colours");
  for (const call of watchers) call();
}

export function startTheme() {
  const button = document.getElementById("theme");
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    changed();
  });
  system.addEventListener("change", changed);
  changed();
}

// Paper is white: print in light colours, then go back.
export function inLight(work) {
  const before = root.dataset.theme;
  root.dataset.theme = "light";
  work();
  return () => {
    if (before) root.dataset.theme = before;
    else delete root.dataset.theme;
  };
}

export function colours() {
  const style = getComputedStyle(root);
  const read = (name) => style.getPropertyValue(name).trim();
  return {
    text: read("--text"), soft: read("--soft"), line: read("--line"), panel: read("--panel"),
    accent: read("--accent"), good: read("--good"), bad: read("--bad"), grey: read("--grey"),
    series: [1, 2, 3, 4, 5, 6, 7].map((k) => read(`--series-${k}`)),
    neutral: read("--heat-zero"), high: read("--heat-high"), low: read("--heat-low"),
  };
}
