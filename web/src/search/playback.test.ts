import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { Traced } from "../api/schema";
import tracedSample from "../samples/traced.json";
import { keyAction } from "./keys";
import { Playback, PlaybackSettings } from "./playback.svelte";
import { StepClock } from "./stepClock";

const { steps } = (tracedSample as unknown as Traced).trace;

/** The animation frames that are asked for, and the time that they get. */
let frames: Map<number, FrameRequestCallback>;
let now: number;

function frameAfter(ms: number): void {
  now += ms;
  const due = [...frames.values()];
  frames.clear();
  for (const frame of due) frame(now);
}

beforeEach(() => {
  [frames, now] = [new Map(), 1000];
  let count = 0;
  vi.spyOn(performance, "now").mockImplementation(() => now);
  vi.stubGlobal("requestAnimationFrame", (frame: FrameRequestCallback) => {
    frames.set((count += 1), frame);
    return count;
  });
  vi.stubGlobal("cancelAnimationFrame", (id: number) => frames.delete(id));
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

describe("a playback", () => {
  it("begins with a step, and the memo after it", () => {
    const first = new Playback(steps, new PlaybackSettings());
    expect(first.at).toBe(0);
    expect(first.step).toBe(steps[0]);
    expect(first.memo.expressions.size).toBeGreaterThan(0);
    const later = new Playback(steps, new PlaybackSettings(), 9);
    expect(later.memo.expressions.size).toBeGreaterThan(first.memo.expressions.size);
  });

  it("goes along the steps that the filter lets through", () => {
    const playback = new Playback(steps, new PlaybackSettings());
    const positions = [...playback.positions];
    const seen = positions.map((_, k) => {
      if (k) playback.move(1);
      return playback.at;
    });
    expect(seen).toEqual(positions);
    expect(playback.listed).toBe(positions.length - 1);
    playback.move(-Infinity);
    expect(playback.at).toBe(positions[0]);
  });

  it("stays within the search", () => {
    const playback = new Playback(steps, new PlaybackSettings());
    playback.seek(1e9);
    expect(playback.at).toBe(steps.length - 1);
    playback.seek(-1);
    expect(playback.at).toBe(0);
    expect(new Playback([], new PlaybackSettings()).step).toBeUndefined();
  });

  it("shows the steps of one rule from the present one on", () => {
    const settings = new PlaybackSettings();
    const playback = new Playback(steps, settings);
    playback.showRule("PatternCommute");
    expect(JSON.stringify(playback.step)).toContain("PatternCommute");
    expect(settings.kinds.has("known")).toBe(true);
    expect(playback.listed).toBe(0);
  });

  it("plays at its speed to the end, and from there again", () => {
    const settings = new PlaybackSettings();
    settings.speed = 4;
    const playback = new Playback(steps, settings);
    playback.play();
    frameAfter(100);
    expect(playback.at).toBe(0);
    frameAfter(200);
    expect(playback.at).toBe(playback.positions[1]);
    frameAfter(1e6);
    expect(playback.at).toBe(playback.positions.at(-1));
    frameAfter(1000);
    expect(playback.playing).toBe(false);
    expect(frames.size).toBe(0);
    playback.toggle();
    expect(playback.at).toBe(playback.positions[0]);
    expect(playback.playing).toBe(true);
  });

  it("stops when another step is chosen", () => {
    const playback = new Playback(steps, new PlaybackSettings());
    playback.play();
    playback.seek(3);
    expect(playback.playing).toBe(false);
    frameAfter(1e6);
    expect(playback.at).toBe(3);
  });
});

it("steps are due by time and speed, none is lost between frames", () => {
  const clock = new StepClock(1000);
  expect(clock.stepsDue(990, 10)).toBe(0);
  const due = Array.from({ length: 60 }, (_, k) => clock.stepsDue(1000 + (k + 1) * 50, 10));
  expect(due.reduce((a, b) => a + b, 0)).toBeGreaterThanOrEqual(29);
  expect(due.reduce((a, b) => a + b, 0)).toBeLessThanOrEqual(30);
});

describe("keys", () => {
  const press = (key: string, held: Partial<KeyboardEvent> = {}) =>
    keyAction({ key, shiftKey: false, altKey: false, ctrlKey: false, metaKey: false, ...held });

  it("go along the search", () => {
    expect(press("ArrowRight")).toEqual({ by: 1 });
    expect(press("ArrowLeft", { shiftKey: true })).toEqual({ by: -10 });
    expect(press("PageDown")).toEqual({ by: 100 });
    expect(press("Home")).toEqual({ by: -Infinity });
    expect(press(" ")).toBe("play");
  });

  it("of the browser and of other fields stay what they are", () => {
    expect(press("ArrowLeft", { altKey: true })).toBeNull();
    expect(press("a")).toBeNull();
  });
});
