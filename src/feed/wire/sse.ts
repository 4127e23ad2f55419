/** Server-sent events as the feed uses them: comments, and events of one data line. WHATWG HTML §9.2 */
import { splitLines } from './lines.ts';

/** An event, or a comment, which shows that the peer is alive. */
export type SseItem =
  | { readonly kind: 'comment'; readonly text: string }
  | { readonly kind: 'event'; readonly name: string; readonly data: string };

export const HEARTBEAT = ':\n\n';

/** Formats a comment of one line. */
export function formatComment(text: string): string {
  return `: ${text}\n\n`;
}

/** Formats an event whose `data` is one line. */
export function formatEvent(event: { readonly id?: number; readonly name: string; readonly data: string }): string {
  const id = event.id === undefined ? '' : `id: ${event.id}\n`;
  return `${id}event: ${event.name}\ndata: ${event.data}\n\n`;
}

/**
 * Yields events and comments. Fields other than `event` and `data`, and an incomplete event at the end, are skipped.
 */
export async function* readEvents(
  chunks: AsyncIterable<Buffer>,
  maxEventChars: number,
): AsyncGenerator<SseItem, void, undefined> {
  let name = '';
  let data: string[] = [];
  let chars = 0;
  for await (const lines of splitLines(chunks, maxEventChars)) {
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) yield { kind: 'event', name, data: data.join('\n') };
        [name, data, chars] = ['', [], 0];
        continue;
      }
      if (line.startsWith(':')) {
        yield { kind: 'comment', text: line.slice(1).trim() };
        continue;
      }
      chars += line.length;
      if (chars > maxEventChars) throw new Error(`an event is longer than ${maxEventChars} characters`);
      const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
      if (field === 'event') name = value;
      else if (field === 'data') data.push(value);
    }
  }
}
