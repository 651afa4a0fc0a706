// The list of sections says where the reader is.

export function startNavigation() {
  const links = new Map([...document.querySelectorAll(".contents a")].map((link) => [link.hash.slice(1), link]));
  const seen = new Set();
  const show = () => {
    const here = [...links.keys()].find((name) => seen.has(name));
    for (const [name, link] of links) {
      link.classList.toggle("here", name === here);
      if (name === here) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  };
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting) seen.add(entry.target.id);
      else seen.delete(entry.target.id);
    }
    show();
  }, { rootMargin: "-20% 0px -60% 0px" });
  for (const name of links.keys()) watcher.observe(document.getElementById(name));
}
