/**
 * Lets commands of this machine ask an edge worker what would become of a request: JSON over HTTP on a socket of the
 * data directory, which only its owner may open. `cli/explain-command.ts` asks.
 */
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { Explain, Question } from '#edge/pipeline/explain.ts';
import type { Logger } from '#lib/logger.ts';

interface ExplainSocketOptions {
  readonly path: string;
  readonly explain: Explain;
  readonly log: Logger;
}

/** Limit of a question, the same as for a viewer's head. */
const MAX_QUESTION_BYTES = 64 * 1024;

/** Listens for questions. The edge works without it, so a failure to listen is only logged. */
export async function openExplainSocket({ path, explain, log }: ExplainSocketOptions): Promise<AsyncDisposable> {
  const server = createServer({ keepAlive: false }, async (message, response) => {
    try {
      const question = await readQuestion(message);
      const answer = await explain(question);
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    } catch (error) {
      response
        .writeHead(400, { 'content-type': 'text/plain' })
        .end(error instanceof Error ? error.message : 'bad question');
    }
  });
  rmSync(path, { force: true }); // of a worker that was killed
  server.on('error', (error) => log.warn({ err: error, path }, 'cannot open the socket of "causeway explain"'));
  server.listen({ path });
  await Promise.race([once(server, 'listening'), once(server, 'close'), once(server, 'error')]);
  return {
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      rmSync(path, { force: true });
    },
  };
}

async function readQuestion(message: IncomingMessage): Promise<Question> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of message) {
    const chunk: Buffer = piece; // no encoding is set
    bytes += chunk.length;
    if (bytes > MAX_QUESTION_BYTES) throw new Error(`expected at most ${MAX_QUESTION_BYTES} bytes`);
    pieces.push(chunk);
  }
  const value: unknown = JSON.parse(Buffer.concat(pieces).toString('utf8'));
  // Only our own command of the same version opens the socket; the stages check the texts.
  return value as Question;
}
