/** Goes along the steps of a search: to any of them, or playing at a speed. */

import { Replay, type MemoSnapshot, type Step } from "./replay";
import { StepClock } from "./stepClock";
import {
  CHANGES,
  filteredPositions,
  groupIn,
  lowerBound,
  moved,
  toggledKind,
  type Kind,
} from "./timeline";

export const SPEEDS = [1, 4, 16, 64, 256, 1024] as const;

/** What stays as it is when another search is shown. */
export class PlaybackSettings {
  kinds = $state.raw<ReadonlySet<Kind>>(CHANGES);
  /** In steps per second. */
  speed = $state<number>(4);
}

export class Playback {
  /** The position of the step that is shown, counted from 0 over all steps. */
  at = $state(0);
  /** The memo after that step. */
  memo: MemoSnapshot = $state.raw({ groups: new Map(), expressions: new Map() });
  playing = $state(false);
  /** The rule and the group whose steps alone are shown; the group as it was typed. */
  rule = $state<string | null>(null);
  group = $state("");

  /** The positions of the steps that the filter lets through. */
  readonly positions = $derived.by(() =>
    filteredPositions(this.steps, {
      kinds: this.settings.kinds,
      rule: this.rule,
      group: groupIn(this.group),
    }),
  );
  /** The index of `at` in `positions`; null if the filter hides that step. */
  readonly listed = $derived.by(() => {
    const k = lowerBound(this.positions, this.at);
    return this.positions[k] === this.at ? k : null;
  });

  readonly #replay: Replay;
  #frame = 0;

  constructor(
    readonly steps: readonly Step[],
    readonly settings: PlaybackSettings,
    start = 0,
  ) {
    this.#replay = new Replay(steps);
    this.#show(start);
  }

  get step(): Step | undefined {
    return this.steps[this.at];
  }

  /** Shows a step, and stops playing. */
  seek(to: number): void {
    this.pause();
    this.#show(Math.max(0, Math.min(this.steps.length - 1, to)));
  }

  /** Goes `by` of the steps that the filter lets through; back if it is negative. */
  move(by: number): void {
    this.seek(moved(this.positions, this.at, by));
  }

  /** Plays to the last step; from there it begins again. */
  play(): void {
    if (moved(this.positions, this.at, 1) === this.at) this.#show(this.positions[0] ?? 0);
    this.playing = true;
    const clock = new StepClock(performance.now());
    const advance = (now: number) => {
      const by = clock.stepsDue(now, this.settings.speed);
      const to = moved(this.positions, this.at, by);
      if (by && to === this.at) this.pause();
      else {
        if (by) this.#show(to);
        this.#frame = requestAnimationFrame(advance);
      }
    };
    this.#frame = requestAnimationFrame(advance);
  }

  pause(): void {
    cancelAnimationFrame(this.#frame);
    this.playing = false;
  }

  toggle(): void {
    if (this.playing) this.pause();
    else this.play();
  }

  toggleKind(kind: Kind): void {
    this.settings.kinds = toggledKind(this.settings.kinds, kind);
  }

  /** Shows the steps of a rule alone, from the present one on. */
  showRule(rule: string): void {
    this.rule = rule;
    this.settings.kinds = new Set<Kind>([...this.settings.kinds, "rule", "known"]);
    const next = this.positions[lowerBound(this.positions, this.at)] ?? this.positions[0];
    if (next !== undefined) this.seek(next);
  }

  #show(at: number): void {
    this.memo = this.#replay.goTo(at + 1);
    this.at = at;
  }
}
