// How long something is on screen, without the time in which the page was hidden.

export class Clock {
  constructor() {
    this.passed = 0;
    this.since = document.hidden ? null : performance.now();
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) {
        this.passed = this.total();
        this.since = null;
      } else if (this.since === null) this.since = performance.now();
    });
  }

  total() {
    return this.passed + (this.since === null ? 0 : performance.now() - this.since);
  }

  // Seconds since the last call, to the millisecond.
  lap() {
    const seconds = Math.round(this.total()) / 1000;
    this.passed = 0;
    this.since = document.hidden ? null : performance.now();
    return Math.min(seconds, 86400);
  }
}
