// Numbers, times and shares as text.
import { plural, whole } from "../dom.js";

export { plural, whole };

export const MISSING = "–";

export function percent(share, digits = 0) {
  return share === null || share === undefined ? MISSING : `${(100 * share).toFixed(digits)}%`;
}

export function decimal(number, digits = 2) {
  return number === null || number === undefined ? MISSING : number.toFixed(digits);
}

// With a true minus sign.
export const minus = (number, digits) => number.toFixed(digits).replace("-", "−");

export function clock(at) {
  return new Date(at * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" });
}

// A time in the next days: today without the date, later with it.
export function moment(at) {
  const when = new Date(at * 1000);
  const hour = when.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  if (at * 1000 - Date.now() > 14 * 86400e3) return when.toLocaleDateString([], { day: "numeric", month: "short", year: "numeric" });
  if (when.toDateString() === new Date().toDateString()) return hour;
  return `${when.toLocaleDateString([], { weekday: "short", day: "numeric", month: "short" })}, ${hour}`;
}

export function ago(at, now = Date.now() / 1000) {
  if (!at) return MISSING;
  const seconds = Math.max(0, now - at);
  if (seconds < 90) return "just now";
  if (seconds < 5400) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 129600) return `${Math.round(seconds / 3600)} h ago`;
  return `${Math.round(seconds / 86400)} days ago`;
}

export function rate(number) {
  return number < 10 ? number.toFixed(1) : whole(Math.round(number));
}

// How far a computation is: its stages from the outermost on; one of few parts says which part it is.
export function computing(progress, seconds = progress.seconds) {
  const stages = progress.stages.map(({ what, done, total }) =>
    !total ? (done ? `${what}, ${whole(done)} so far` : what) : total < 10 ? `part ${done + 1} of ${total}, ${what}` : `${what}, ${whole(done)} of ${whole(total)}`);
  const usual = progress.usual >= 1 ? ` The last time, it took ${decimal(progress.usual, 0)} s.` : "";
  return `computing for ${decimal(seconds, 0)} s${stages.length ? ` (${stages.join("; ")})` : ""}.${usual}`;
}
