/** The keys that go along a search. */

export type KeyAction = "play" | { readonly by: number };

/** What a key does; null if it does nothing. `by` counts steps, Infinity leads to the last one. */
export function keyAction(
  event: Pick<KeyboardEvent, "key" | "shiftKey" | "altKey" | "ctrlKey" | "metaKey">,
): KeyAction | null {
  if (event.altKey || event.ctrlKey || event.metaKey) return null;
  const by = event.shiftKey ? 10 : 1;
  switch (event.key) {
    case "ArrowRight":
      return { by };
    case "ArrowLeft":
      return { by: -by };
    case "PageDown":
      return { by: 100 };
    case "PageUp":
      return { by: -100 };
    case "Home":
      return { by: -Infinity };
    case "End":
      return { by: Infinity };
    case " ":
      return "play";
    default:
      return null;
  }
}
