// Requests to the server: the base path, the CSRF token, and errors as sentences.

const meta = (name) => document.querySelector(`meta[name="${name}"]`)?.content ?? "";

export const base = meta("base");
export const csrf = meta("csrf");

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

export async function send(method, path, body) {
  const options = { method, headers: { Accept: "application/json" }, credentials: "same-origin" };
  if (method !== "GET") options.headers["X-CSRF-Token"] = csrf;
  if (body !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  let response;
  try {
    response = await fetch(url(path), options);
  } catch {
    throw new Refused(0, "The server cannot be reached.");
  }
  const found = await response.json().catch(() => ({}));
  if (!response.ok) throw new Refused(response.status, found.error ?? "The request failed.");
  return found;
}

// Only paths of this server; the server checks this too.
export function go(path) {
  location.assign(/^\/(?![/\\])/.test(path) ? url(path) : url("/"));
}
