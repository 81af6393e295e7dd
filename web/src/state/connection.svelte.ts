/** Whether the service answers, and the token that it may ask for. */

import { setSession } from "../api/client";
import { ready } from "../api/service";

const KEY = "headrace.token";
const RETRY_MS = 1500;

class Connection {
  lost = $state(false);
  /** Whether the dialog for a token is open. */
  asking = $state(false);
  /** Whether the dialog was cancelled: it does not open again by itself. */
  declined = $state(false);
  /** Whether the service refused the token that was given. */
  wrong = $state(false);

  /** Called when requests that failed can succeed: the service is back, or there is a token. */
  onRestored: () => void = () => undefined;

  #token: string | null = sessionStorage.getItem(KEY);
  #waiting: ((given: boolean) => void)[] = [];
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor() {
    setSession({
      token: () => this.#token,
      requestToken: () => this.#requestToken(),
      unreachable: () => this.#lose(),
      reachable: () => this.#restore(),
    });
  }

  /** Takes the token that was typed; null if the dialog was cancelled. */
  give(token: string | null): void {
    this.#token = token;
    if (token === null) sessionStorage.removeItem(KEY);
    else sessionStorage.setItem(KEY, token);
    this.wrong = token !== null;
    this.declined = token === null;
    this.asking = false;
    for (const resolve of this.#waiting.splice(0)) resolve(token !== null);
  }

  /** Opens the dialog again after it was cancelled; repeats refused requests with the token. */
  async askAgain(): Promise<void> {
    this.declined = false;
    this.wrong = false;
    if (await this.#requestToken()) this.onRestored();
  }

  /** Checks at once whether the service is back. */
  async retry(): Promise<void> {
    // A service that is not ready yet would refuse what is repeated.
    if (await ready()) this.#restore();
  }

  #requestToken(): Promise<boolean> {
    if (this.declined) return Promise.resolve(false);
    this.asking = true;
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #lose(): void {
    if (this.lost) return;
    this.lost = true;
    this.#timer = setInterval(() => void this.retry(), RETRY_MS);
  }

  #restore(): void {
    if (!this.lost) return;
    this.lost = false;
    clearInterval(this.#timer);
    this.onRestored();
  }
}

export const connection = new Connection();
