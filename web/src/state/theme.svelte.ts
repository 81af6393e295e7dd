/** Light or dark colours: those of the system until the user chooses. */

type Theme = "light" | "dark";
const KEY = "headrace.theme";

class ThemeChoice {
  #chosen = $state<Theme | null>(read());
  #system = $state<Theme>("light");
  readonly current = $derived<Theme>(this.#chosen ?? this.#system);

  constructor() {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    this.#system = dark.matches ? "dark" : "light";
    dark.addEventListener("change", () => {
      this.#system = dark.matches ? "dark" : "light";
      this.#apply();
    });
    this.#apply();
  }

  toggle(): void {
    this.#chosen = this.current === "dark" ? "light" : "dark";
    try {
      localStorage.setItem(KEY, this.#chosen);
    } catch {
      // Without storage the choice lasts as long as the page is open.
    }
    this.#apply();
  }

  #apply(): void {
    document.documentElement.dataset["theme"] = this.#chosen ?? this.#system;
  }
}

function read(): Theme | null {
  try {
    const stored = localStorage.getItem(KEY);
    return stored === "light" || stored === "dark" ? stored : null;
  } catch {
    return null;
  }
}

export const theme = new ThemeChoice();
