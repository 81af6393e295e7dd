/** Parts of a sum. */

/** The shares of parts in their sum; all 0 if the sum is. */
export function shares(parts: readonly number[]): readonly number[] {
  const sum = parts.reduce((before, part) => before + part, 0);
  return parts.map((part) => (sum > 0 ? part / sum : 0));
}
