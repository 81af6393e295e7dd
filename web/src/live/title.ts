/** The title of a running query: its name, or the first line of its text that is not a comment. */
export function titleOf({ name, query }: { readonly name: string | null; readonly query: string }): string {
  if (name !== null) return name;
  const lines = query
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  return lines.find((line) => !/^(?:%|\/\/)/.test(line)) ?? lines[0] ?? "";
}
