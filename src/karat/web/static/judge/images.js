// Images are loaded and decoded ahead, so that the next item appears at once.

const found = new Map();
const MISSING = "The image cannot be shown: its file is missing or damaged, or there is no connection. Click here to try again.";

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

// Load the next images and forget all others; failed ones are tried again.
export function prefetch(addresses) {
  const wanted = new Set(addresses);
  for (const [address, { state }] of found) {
    if (!wanted.has(address) || state === "missing") found.delete(address);
  }
  for (const address of wanted) load(address);
}

// Show an image in a frame, or a message if it cannot be shown; `filled()` is called after that.
export function show(frame, address, alt, filled = () => {}) {
  const entry = load(address);
  const fill = () => {
    frame.dataset.state = entry.state;
    frame.setAttribute("aria-label", entry.state === "missing" ? `${alt}. ${MISSING}` : `${alt}. Enlarge`);
    entry.image.alt = alt;
    frame.replaceChildren(entry.state === "missing" ? MISSING : entry.image);
    filled();
  };
  if (entry.state === "loading") {
    frame.dataset.state = "loading";
    frame.setAttribute("aria-label", `${alt}, loading`);
    frame.replaceChildren();
    entry.ready.then(fill);
  } else fill();
}

export function tryAgain(frame, address, alt, filled) {
  found.delete(address);
  show(frame, address, alt, filled);
}
