import { expect, it } from "vitest";

import type { Explanation } from "../api/schema";
import { pinName, pins } from "./pins.svelte";

const explained = (more: object = {}): Explanation =>
  ({
    id: "ab",
    asked: { options: {} },
    catalog: { streams: { calls: {} } },
    cost_model: "saturating",
    minimised: "shared_cost",
    cost: 9,
    shared_cost: 4,
    plan: {
      windows: [
        { range: 86400, slide: 3600 },
        { range: 86400, slide: 3600 },
      ],
    },
    picture: { per: { factor: 1, sign: "s" }, seconds: 1 },
    ...more,
  }) as unknown as Explanation;

it("the name of a pinned plan says what it was planned for", () => {
  expect(pinName(explained())).toBe("4 µs/s · calls · window 1d slide 1h · saturating model");
  const other = explained({
    asked: { options: { parallelism: 8 } },
    minimised: "cost",
    plan: { windows: [{ range: 60, slide: 1 }, { range: 120, slide: 1 }] },
  });
  expect(pinName(other)).toBe("9 µs/s · calls · window 1m, 2m · saturating model · 8 partitions");
});

it("a plan is pinned once, and unpinned", () => {
  pins.toggle(explained());
  expect(pins.all.map(({ id }) => id)).toEqual(["ab"]);
  expect(pins.has("ab")).toBe(true);
  pins.toggle(explained());
  expect(pins.all).toEqual([]);
});
