/** Server-sent events of a response, by fetch: EventSource can send no token. */

export interface ServerEvent {
  readonly event: string;
  readonly id: string | null;
  readonly data: string;
}

/** Splits text that comes in pieces into events. */
export class EventParser {
  #rest = "";
  #event = "";
  #id: string | null = null;
  #data: string[] = [];

  /** The events that a piece of text completes. */
  take(piece: string): readonly ServerEvent[] {
    const lines = (this.#rest + piece).split(/\r\n|\n/);
    this.#rest = lines.pop() ?? "";
    const found: ServerEvent[] = [];
    for (const line of lines) {
      if (line === "") {
        if (this.#data.length || this.#event)
          found.push({ event: this.#event || "message", id: this.#id, data: this.#data.join("\n") });
        [this.#event, this.#id, this.#data] = ["", null, []];
        continue;
      }
      const [, field = "", value = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
      if (field === "event") this.#event = value;
      else if (field === "id") this.#id = value;
      else if (field === "data") this.#data.push(value);
    }
    return found;
  }
}

/** The events of a stream until it ends. */
export async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const reader = body.pipeThrough(new TextDecoderStream() as unknown as Decoder).getReader();
  const parser = new EventParser();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield* parser.take(value);
    }
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}

type Decoder = ReadableWritablePair<string, Uint8Array>;
