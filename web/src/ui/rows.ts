/** Which rows of a long list are in sight. */

export interface Sight {
  readonly first: number;
  readonly end: number;
}

/** The rows from `first` to before `end` that a list shows, and some beyond either edge. */
export function inSight(
  count: number,
  height: number,
  top: number,
  room: number,
  beyond = 8,
): Sight {
  const first = Math.max(0, Math.floor(top / height) - beyond);
  const end = Math.min(count, Math.ceil((top + room) / height) + beyond);
  return { first: Math.min(first, Math.max(0, end)), end };
}

/** Where to scroll so that a row is wholly in sight; where it is already, the same. */
export function scrolledTo(row: number, height: number, top: number, room: number): number {
  if (row * height < top) return row * height;
  if ((row + 1) * height > top + room) return (row + 1) * height - room;
  return top;
}
