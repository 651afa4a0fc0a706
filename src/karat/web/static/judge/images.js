// Pictures are fetched and decoded before they are shown, so that the next item is there at once.

const found = new Map();
const MISSING = "The image cannot be shown: its file is missing or damaged, or there is no connection. Press here to try again.";

function load(address) {
  if (!found.has(address)) {
    const image = new Image();
    const entry = { image, state: "loading" };
    image.src = address;
    entry.ready = image.decode().then(() => { entry.state = "ready"; }, () => { entry.state = "missing"; });
    found.set(address, entry);
  }
  return found.get(address);
}

// Fetch what comes next and let go of everything else; what failed is tried again.
export function prefetch(addresses) {
  const wanted = new Set(addresses);
  for (const [address, { state }] of found) {
    if (!wanted.has(address) || state === "missing") found.delete(address);
  }
  for (const address of wanted) load(address);
}

// Put a picture into a frame, or say that there is none.
export function show(frame, address, alt) {
  const entry = load(address);
  const fill = () => {
    frame.dataset.state = entry.state;
    frame.setAttribute("aria-label", entry.state === "missing" ? `${alt}. ${MISSING}` : `${alt}. Enlarge`);
    entry.image.alt = alt;
    frame.replaceChildren(entry.state === "missing" ? MISSING : entry.image);
  };
  if (entry.state === "loading") {
    frame.dataset.state = "loading";
    frame.setAttribute("aria-label", `${alt}, on its way`);
    frame.replaceChildren();
    entry.ready.then(fill);
  } else fill();
}

export function tryAgain(frame, address, alt) {
  found.delete(address);
  show(frame, address, alt);
}
