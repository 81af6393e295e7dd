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

/** Where to scroll so that a row is wholly in sight: nowhere if it is already, no further than
 * needed to a row nearby, and a row far away comes into the middle. */
export function scrolledTo(row: number, height: number, top: number, room: number): number {
  const [above, below] = [row * height - top, (row + 1) * height - top - room];
  if (above >= 0 && below <= 0) return top;
  if (above < -room || below > room) return Math.max(0, row * height - (room - height) / 2);
  return above < 0 ? row * height : top + below;
}
