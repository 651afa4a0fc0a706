// Light or dark: the system's setting, unless the user chose; the choice is stored in the browser.
(() => {
  const root = document.documentElement;
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const kept = (() => {
    try {
      return localStorage.getItem("karat-theme");
    } catch {
      return null;
    }
  })();
  if (kept === "dark" || kept === "light") root.dataset.theme = kept;

  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);

  function say(button) {
    button.textContent = isDark() ? "Light" : "Dark";
    button.title = isDark() ? "Switch to light colours" : "Switch to dark colours";
    button.setAttribute("aria-label", isDark() ? "Switch to light colours" : "Switch to dark colours");
  }

  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    if (!button) return;
    button.hidden = false;
    say(button);
    system.addEventListener("change", () => say(button));
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      try {
        localStorage.setItem("karat-theme", root.dataset.theme);
      } catch {
        // Without storage, the choice applies to this page only.
      }
      say(button);
    });
  });
})();
