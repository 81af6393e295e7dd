import { beforeEach, expect, it, vi } from "vitest";

import { Slices } from "./slices.svelte";

let frames: (() => void)[] = [];
vi.stubGlobal("requestAnimationFrame", (frame: () => void) => frames.push(frame));
vi.stubGlobal("cancelAnimationFrame", () => (frames = []));
beforeEach(() => {
  frames = [];
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});

function nextFrame(): void {
  for (const frame of frames.splice(0)) frame();
  vi.runAllTimers();
}

it("a few items are drawn at once", () => {
  const slices = new Slices();
  slices.drawUpTo(3);
  expect(slices).toMatchObject({ count: 3, busy: false });
  expect(frames).toEqual([]);
});

it("more items are drawn frame by frame", () => {
  const slices = new Slices();
  slices.drawUpTo(10);
  expect(slices).toMatchObject({ count: 4, busy: true });
  nextFrame();
  nextFrame();
  expect(slices).toMatchObject({ count: 10, busy: false });
  expect(frames).toEqual([]);
});

it("a large list takes no more than twelve frames", () => {
  const slices = new Slices();
  slices.drawUpTo(400);
  for (let frame = 1; frame < 12; frame += 1) nextFrame();
  expect(slices.count).toBe(400);
});

it("another list keeps what is drawn, and a shorter one ends the drawing", () => {
  const slices = new Slices();
  slices.drawUpTo(10);
  nextFrame();
  slices.drawUpTo(9);
  expect(slices).toMatchObject({ count: 9, busy: false });
  slices.drawUpTo(2);
  expect(slices.count).toBe(2);
  slices.drawUpTo(8);
  slices.stop();
  nextFrame();
  expect(slices).toMatchObject({ count: 6, busy: false });
});

it("a slice is drawn after a frame and not within it", () => {
  const slices = new Slices();
  slices.drawUpTo(8);
  for (const frame of frames.splice(0)) frame();
  expect(slices.count).toBe(4);
  slices.stop();
  vi.runAllTimers();
  expect(slices.count).toBe(4);
});
