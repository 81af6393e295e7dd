/** Draws the items of a list in slices, one for each frame: keys and clicks are heard between them. */

/** Boxes that take a few milliseconds with their layout, also on a phone. */
const LEAST = 4;
/** A large list is drawn in at most this many frames, which take a fifth of a second. */
const MOST_FRAMES = 12;

export class Slices {
  /** How many items of the list are drawn, from its beginning. */
  count = $state(0);
  /** Whether more items will be drawn. */
  busy = $state(false);
  #cancel: () => void = () => undefined;

  /** Draws a list up to its end. Items at positions that were drawn before appear at once. */
  drawUpTo(total: number): void {
    this.stop();
    const slice = Math.max(LEAST, Math.ceil((total - this.count) / MOST_FRAMES));
    const advance = () => {
      this.count = Math.min(total, this.count + slice);
      this.busy = this.count < total;
      if (this.busy) this.#cancel = afterNextFrame(advance);
    };
    advance();
  }

  /** Draws no further items. */
  stop(): void {
    this.#cancel();
    this.busy = false;
  }
}

/** Runs a task once the browser has drawn. A task within the frame would be part of it, and as long
 * as both together. Returns how to cancel the task. */
function afterNextFrame(task: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const frame = requestAnimationFrame(() => (timer = setTimeout(task)));
  return () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
  };
}
