// Requests of the judging page. They have a timeout, so that the outbox can try again.
import { Refused, csrf, url } from "../http.js";

const PATIENCE = 15000;
const LONGEST = 30;

export async function call(method, path, body, keepalive = false) {
  const options = {
    method, keepalive, credentials: "same-origin", headers: { Accept: "application/json" },
    signal: AbortSignal.timeout(PATIENCE),
  };
  if (method !== "GET") {
    options.headers["X-CSRF-Token"] = csrf;
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body ?? {});
  }
  let response, found;
  try {
    response = await fetch(url(`/api/judge/${path}`), options);
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

export const imageOf = (item) => url(`/api/judge/image/${item.id}`);
export const ownImageOf = (item) => url(`/api/judge/own-image/${item.id}`);

const FINAL = [400, 409, 410, 413, 422];
const OUT = [401, 403];

// Signed out, or the page belongs to an older session.
export const isOut = (error) => OUT.includes(error.status);

// Whether to try again: no connection, a busy server, or a restart. Not if the server has read and refused it.
export const passes = (error) => !FINAL.includes(error.status) && !isOut(error);
