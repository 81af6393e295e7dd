/** The query that the page opens with. */

import type { ExampleDocument, StreamDocument } from "../api/schema";
import type { Catalog, Stream } from "./catalog";
import { isRqWord } from "./colourings";

/** The example that the page opens with if the service has no streams. */
const FIRST = "mathoverflow/chains.rq";

/** The time units of catalogs in which a window may be given in hours. */
const TIMED = new Set(["microsecond", "millisecond", "second", "minute", "hour", "day"]);

/** What to open: an example over its own catalog or over the streams of the service, or a query over
 * these streams. */
export type Opening =
  | { readonly example: ExampleDocument; readonly overService: boolean }
  | { readonly query: string };

/** Chooses the opening: the streams of the service come first, then an example. */
export function openingOf(
  streams: readonly StreamDocument[],
  examples: readonly ExampleDocument[],
): Opening | null {
  const first = examples.find(({ name }) => name === FIRST) ?? examples[0];
  if (!streams.length) return first ? { example: first, overService: false } : null;
  const present = labelKeys({ streams: Object.fromEntries(streams.map((s) => [s.name, s.stream as Stream])) });
  const fits = (one: ExampleDocument) =>
    labelKeys(one.catalog as unknown as Catalog).join() === present.join();
  const fitting = first && fits(first) ? first : examples.find(fits);
  if (fitting) return { example: fitting, overService: true };
  const query = queryOver(streams);
  return query === null ? null : { query };
}

/** The streams and labels of a catalog, sorted. */
const labelKeys = (catalog: Catalog): readonly string[] =>
  Object.entries(catalog.streams)
    .flatMap(([name, { labels }]) => Object.keys(labels ?? {}).map((label) => JSON.stringify([name, label])))
    .sort();

/** Two steps over the busiest label that one stream alone has; null without such a label. */
function queryOver(streams: readonly StreamDocument[]): string | null {
  const labels = streams.flatMap(({ time_unit, stream }) => {
    const { labels: known, stored = false } = stream as Stream;
    return Object.entries(known ?? {}).map(([label, { rate = 0 }]) => ({ label, rate, stored, time_unit }));
  });
  const single = labels.filter(({ label }) => labels.filter((one) => one.label === label).length === 1);
  const [busiest] = single.sort((a, b) => b.rate - a.rate);
  if (!busiest) return null;
  const name = quoted(busiest.label);
  const window = TIMED.has(busiest.time_unit) ? "WINDOW 24h SLIDE 1h" : "WINDOW 1000 SLIDE 100";
  const query = `Answer(x, z) <- ${name}(x, y), ${name}(y, z).`;
  return busiest.stored ? query : `${query}\n${window}`;
}

const quoted = (label: string): string =>
  /^[\p{L}_][\p{L}\p{N}_]*$/u.test(label) && !isRqWord(label) ? label : `\`${label.replaceAll("`", "``")}\``;
