/** Counts the steps that are due when a search is played at a speed. */
export class StepClock {
  #last: number;
  #due = 0;

  /** Begins at a time in milliseconds. */
  constructor(now: number) {
    this.#last = now;
  }

  /** The whole steps that are due since the last call, at a speed in steps per second. */
  stepsDue(now: number, speed: number): number {
    // The first animation frame may have begun before the clock did.
    const elapsed = Math.max(0, now - this.#last);
    this.#last = Math.max(this.#last, now);
    this.#due += (elapsed / 1000) * speed;
    const whole = Math.floor(this.#due);
    this.#due -= whole;
    return whole;
  }
}
