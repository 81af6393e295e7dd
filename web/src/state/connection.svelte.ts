/** Whether the service answers, and the token that it may ask for. */

import { setHost } from "../api/client";

const KEY = "headrace.token";
const EVERY_MS = 1500;

class Connection {
  lost = $state(false);
  /** Set while somebody is asked for a token. */
  asking = $state(false);
  /** Somebody was asked and gave none: it is not asked again until they want to. */
  declined = $state(false);
  /** Whether a token was given that the service does not know. */
  wrong = $state(false);
  /** Counts how often the service came back: what failed is tried again when it changes. */
  returns = $state(0);

  #token: string | null = sessionStorage.getItem(KEY);
  #waiting: ((token: string | null) => void)[] = [];
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor() {
    setHost({
      token: () => this.#token,
      refused: () => this.#refused(),
      lost: () => this.#lose(),
      back: () => this.#find(),
    });
  }

  /** Takes what was typed; null: none. */
  give(token: string | null): void {
    this.#token = token;
    if (token === null) sessionStorage.removeItem(KEY);
    else sessionStorage.setItem(KEY, token);
    this.wrong = token !== null;
    this.declined = token === null;
    this.asking = false;
    for (const go of this.#waiting.splice(0)) go(token);
  }

  /** Asks for a token after all; what was refused is asked again with it. */
  async askAgain(): Promise<void> {
    this.declined = false;
    this.wrong = false;
    if ((await this.#refused()) !== null) this.returns += 1;
  }

  retry(): void {
    void this.#look();
  }

  #refused(): Promise<string | null> {
    if (this.declined) return Promise.resolve(null);
    this.asking = true;
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #lose(): void {
    if (this.lost) return;
    this.lost = true;
    this.#timer = setInterval(() => void this.#look(), EVERY_MS);
  }

  #find(): void {
    if (!this.lost) return;
    this.lost = false;
    clearInterval(this.#timer);
    this.returns += 1;
  }

  async #look(): Promise<void> {
    try {
      // Not ready yet is not back: what is tried again then would be refused.
      if ((await fetch("./readyz", { cache: "no-store" })).ok) this.#find();
    } catch {
      // Still away.
    }
  }
}

export const connection = new Connection();
