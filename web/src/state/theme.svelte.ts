/** Light or dark: as the system, until somebody chooses. */

type Theme = "light" | "dark";
const KEY = "headrace.theme";

class Look {
  #chosen = $state<Theme | null>(read());
  #system = $state<Theme>("light");
  readonly current = $derived<Theme>(this.#chosen ?? this.#system);

  constructor() {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    this.#system = dark.matches ? "dark" : "light";
    dark.addEventListener("change", () => {
      this.#system = dark.matches ? "dark" : "light";
      this.#show();
    });
    this.#show();
  }

  toggle(): void {
    this.#chosen = this.current === "dark" ? "light" : "dark";
    try {
      localStorage.setItem(KEY, this.#chosen);
    } catch {
      // It is chosen for as long as the page is open.
    }
    this.#show();
  }

  #show(): void {
    document.documentElement.dataset["theme"] = this.#chosen ?? this.#system;
  }
}

function read(): Theme | null {
  try {
    const kept = localStorage.getItem(KEY);
    return kept === "light" || kept === "dark" ? kept : null;
  } catch {
    return null;
  }
}

export const look = new Look();
