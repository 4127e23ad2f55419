/** Reads `text/event-stream`, WHATWG HTML §9.2.6. */

export interface ServerEvent {
  /** The last id that the stream has sent; empty: none yet. */
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/** A line that is longer is not one of this service. */
const MAX_LINE_CHARS = 1 << 20;

/** `onBytes` is called whenever something arrives, comments included. An event that is cut off is dropped. */
export async function* readServerEvents(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void,
): AsyncGenerator<ServerEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const parser = createEventParser();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onBytes();
      yield* parser(decoder.decode(value, { stream: true }));
    }
  } finally {
    await reader.cancel().catch(() => undefined); // it has failed already
  }
}

/** Returns a function that takes the next piece of the text, and returns the events that it completes. Throws on a line without end. */
export function createEventParser(): (text: string) => ServerEvent[] {
  let rest = '';
  let id = '';
  let event = 'message';
  let data: string[] = [];
  return (text) => {
    const lines = (rest + text).split(/\r\n|\n/);
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE_CHARS)
      throw new Error(`a line of the stream is longer than ${MAX_LINE_CHARS} characters`);
    const events: ServerEvent[] = [];
    for (const line of lines) {
      const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
      if (line === '') {
        if (data.length > 0) events.push({ id, event, data: data.join('\n') });
        event = 'message';
        data = [];
      } else if (name === 'id') id = value;
      else if (name === 'event') event = value;
      else if (name === 'data') data.push(value);
    }
    return events;
  };
}
