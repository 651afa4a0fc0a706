// Requests of the judging page. They have a timeout, so that the outbox can try again.
import { send, url } from "../http.js";

const PATIENCE = 15000;

export function call(method, path, body, keepalive = false) {
  return send(method, `/api/judge/${path}`, body, { keepalive, signal: AbortSignal.timeout(PATIENCE) });
}

export const imageOf = (item) => url(`/api/judge/image/${item.id}`);
export const ownImageOf = (item) => url(`/api/judge/own-image/${item.id}`);

const FINAL = [400, 409, 410, 413, 422];
const OUT = [401, 403];

// Signed out, or the page belongs to an older session.
export const isOut = (error) => OUT.includes(error.status);

// Whether to try again: no connection, a busy server, or a restart. Not if the server has read and refused it.
export const passes = (error) => !FINAL.includes(error.status) && !isOut(error);
