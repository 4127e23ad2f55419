/** An edge that answers control's questions by a script, without a socket; the questions themselves are the real ones. */
import type { Readable } from 'node:stream';
import { Asks } from '#feed/publish/asks.ts';
import type { Ask } from '#feed/wire/ask-messages.ts';
import { silentLog } from '../feed/feed.ts';

/** Answers of the edge `local`, each as the content of a post; none: the edge is silent. */
export type AnswerAsk = (content: unknown) => readonly unknown[];

/** Explains every request in the same way, and sends no lines. */
export const EXPLAINS: AnswerAsk = (content) => {
  if (Object(content).kind !== 'explain') return [];
  const steps = [{ stage: 'site', found: 'a scripted one' }];
  const origins = [{ origin: 'o.example.net:80', state: 'usable' }];
  return [{ explanation: { steps, xCache: 'MISS', asksOrigin: true, origins } }];
};

/** `upload`: what the edge sends for a question, for as long as it is open; `undefined`: nothing. */
export function askScriptedEdge(answer: AnswerAsk, upload?: (content: unknown) => Readable | undefined): Asks {
  const asks: Asks = new Asks({
    db: { onMessage: () => () => undefined, tellControls: async () => undefined },
    streams: {
      sendTo: (event) => {
        const [, data = 'null'] = /^data: (.*)$/m.exec(event) ?? [];
        const { id, limitMs, content }: Ask = JSON.parse(data);
        if (limitMs === 0) return 1;
        for (const each of answer(content))
          setImmediate(() => asks.takeAnswer(id, { edge: 'local', content: each }, undefined));
        const body = upload?.(content);
        if (body !== undefined)
          setImmediate(() => {
            if (asks.takeUpload(id, { edge: 'local', body }, undefined) !== 'taken') body.destroy();
          });
        return 1;
      },
    },
    monotonic: () => performance.now(),
    log: silentLog,
  });
  return asks;
}
