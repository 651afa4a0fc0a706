// Requests to the server: the base path, the CSRF token, and errors as sentences.

const meta = (name) => document.querySelector(`meta[name="${name}"]`)?.content ?? "";

const base = meta("base");
const csrf = meta("csrf");
// How many seconds the server may ask to wait.
const LONGEST = 30;

export function url(path) {
  return base + path;
}

export class Refused extends Error {
  constructor(status, sentence, wait = 0) {
    super(sentence);
    this.status = status;
    // How many milliseconds the server asks to wait before the next attempt.
    this.wait = wait;
  }
}

// `more` are further options of fetch.
export async function send(method, path, body, more = {}) {
  const options = { method, headers: { Accept: "application/json" }, credentials: "same-origin", ...more };
  if (method !== "GET") options.headers["X-CSRF-Token"] = csrf;
  if (body !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  let response, found;
  try {
    response = await fetch(url(path), options);
    found = await response.json();
  } catch {
    // A proxy may answer without JSON while the server is down.
    throw new Refused(response && !response.ok ? response.status : 0, "The server cannot be reached.");
  }
  if (!response.ok) throw new Refused(response.status, found.error ?? "The request failed.", waitOf(response));
  return found;
}

function waitOf(response) {
  const seconds = Number(response.headers.get("Retry-After"));
  return seconds > 0 ? 1000 * Math.min(seconds, LONGEST) : 0;
}

// Only paths of this server; the server checks this too.
export function go(path) {
  location.assign(/^\/(?![/\\])/.test(path) ? url(path) : url("/"));
}
