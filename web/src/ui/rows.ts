/** The rows of a long list that are in sight. */

export interface Sight {
  readonly first: number;
  readonly end: number;
}

/** The rows in sight and `beyond` more on either side: from `first` to before `end`. */
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

/** The scroll position that brings a row into sight: the same if it is in sight, the nearest one for a
 * row nearby, and the one with the row in the middle for a row far away. */
export function scrolledTo(row: number, height: number, top: number, room: number): number {
  const [above, below] = [row * height - top, (row + 1) * height - top - room];
  if (above >= 0 && below <= 0) return top;
  if (above < -room || below > room) return Math.max(0, row * height - (room - height) / 2);
  return above < 0 ? row * height : top + below;
}
