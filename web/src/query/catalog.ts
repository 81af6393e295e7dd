/** The parts of a catalog that the page reads and changes; its shape is checked by the service. */

export interface LabelStatistics {
  readonly rate?: number;
  readonly distinct_src: number;
  readonly distinct_trg: number;
  readonly vertices?: number;
  readonly population?: number;
  readonly distinct_pairs?: number;
  readonly distinct_properties?: Readonly<Record<string, number>>;
  readonly properties?: Readonly<Record<string, unknown>>;
}

/** An end of the edges of a label: stream, label, "src" or "trg". */
type End = readonly [string, string, string];

/** Measured statistics of two ends. */
interface Joint {
  readonly left: End;
  readonly right: End;
}

export interface Stream {
  readonly labels?: Readonly<Record<string, LabelStatistics>>;
  readonly stored?: boolean;
}

export interface Catalog {
  readonly time_unit?: string;
  readonly streams: Readonly<Record<string, Stream>>;
  readonly joint?: readonly Joint[];
}

/** A number of a label that a slider can scale. */
export interface Knob {
  readonly stream: string;
  readonly label: string;
  readonly what: "rate" | "population" | "distinct_src" | "distinct_trg" | `property:${string}`;
  readonly value: number;
}

export const keyOf = ({ stream, label, what }: Omit<Knob, "value">): string =>
  JSON.stringify([stream, label, what]);

export const labelsOf = (catalog: Catalog | null): readonly string[] => [
  ...new Set(Object.values(catalog?.streams ?? {}).flatMap((s) => Object.keys(s.labels ?? {}))),
];

/** The numbers of the labels that a plan reads. */
export function knobs(
  catalog: Catalog,
  reads: readonly { readonly name: string; readonly labels: readonly string[] }[],
): readonly Knob[] {
  return reads.flatMap(({ name, labels }) =>
    labels.flatMap((label) => {
      const known = catalog.streams[name]?.labels?.[label];
      if (known === undefined) return [];
      const of = (what: Knob["what"], value: number | undefined): Knob[] =>
        value === undefined || value <= 0 ? [] : [{ stream: name, label, what, value }];
      return [
        ...of("rate", known.rate),
        ...of("population", known.population),
        ...of("distinct_src", known.distinct_src),
        ...of("distinct_trg", known.distinct_trg),
        ...Object.entries(known.distinct_properties ?? {}).flatMap(([property, count]) =>
          of(`property:${property}`, count),
        ),
      ];
    }),
  );
}

/** The catalog with some of its numbers scaled; numbers that would contradict them are adapted or left
 * out. */
export function scaledCatalog(catalog: Catalog, factors: Readonly<Record<string, number>>): Catalog {
  const streams = Object.entries(catalog.streams).map(([name, stream]) => {
    const labels = Object.entries(stream.labels ?? {}).map(([label, known]) => {
      const by = (what: Knob["what"]) => factors[keyOf({ stream: name, label, what })] ?? 1;
      return [label, scaled(known, by)] as const;
    });
    return [name, { ...stream, ...(stream.labels && { labels: Object.fromEntries(labels) }) }] as const;
  });
  const measured = ([stream, label, end]: End) =>
    (factors[keyOf({ stream, label, what: end === "src" ? "distinct_src" : "distinct_trg" })] ?? 1) === 1;
  const joint = catalog.joint?.filter(({ left, right }) => measured(left) && measured(right));
  return { ...catalog, streams: Object.fromEntries(streams), ...(joint && { joint }) };
}

function scaled(known: LabelStatistics, by: (what: Knob["what"]) => number): LabelStatistics {
  const count = (value: number, factor: number) =>
    factor === 1 ? value : Math.max(1, Math.round(value * factor));
  const distinct_src = count(known.distinct_src, by("distinct_src"));
  const distinct_trg = count(known.distinct_trg, by("distinct_trg"));
  const ends = Math.max(distinct_src, distinct_trg);
  const changed = by("distinct_src") !== 1 || by("distinct_trg") !== 1;
  const { distinct_pairs: pairs, properties, ...rest } = known;
  const keptProperties = Object.entries(properties ?? {}).filter(([name]) => by(`property:${name}`) === 1);
  const keptPairs = pairs === undefined || changed ? {} : { distinct_pairs: pairs };
  return {
    ...rest,
    ...keptPairs,
    ...(properties && { properties: Object.fromEntries(keptProperties) }),
    distinct_src,
    distinct_trg,
    ...(known.rate !== undefined && { rate: known.rate * by("rate") }),
    ...(known.population !== undefined && {
      population: count(known.population, by("population")),
    }),
    ...(known.vertices !== undefined && { vertices: Math.max(known.vertices, ends) }),
    ...(known.distinct_properties && {
      distinct_properties: Object.fromEntries(
        Object.entries(known.distinct_properties).map(([property, value]) => [
          property,
          count(value, by(`property:${property}`)),
        ]),
      ),
    }),
  };
}
