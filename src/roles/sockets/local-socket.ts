/**
 * A socket in the data directory on which a process of the service answers commands of this machine: JSON over HTTP.
 * Only the owner of the directory can open it. `cli/command/ask-local.ts` asks.
 */
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { Logger } from '#lib/logger.ts';
import { readBody } from '#lib/read-body.ts';

interface LocalSocketOptions {
  readonly path: string;
  /** Answers a question from a command of the same version. The message of an error is sent as the answer. */
  answer(question: unknown): Promise<unknown>;
  readonly log: Logger;
}

/** Limit of a question, the same as for a viewer's head. */
const MAX_QUESTION_BYTES = 64 * 1024;

/** Listens for questions. The service works without the socket, so a failure to listen is only logged. */
export async function openLocalSocket({ path, answer, log }: LocalSocketOptions): Promise<AsyncDisposable> {
  const server = createServer({ keepAlive: false }, async (message, response) => {
    try {
      const answered = await answer(await readQuestion(message));
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answered));
    } catch (error) {
      response
        .writeHead(400, { 'content-type': 'text/plain' })
        .end(error instanceof Error ? error.message : 'bad question');
    }
  });
  rmSync(path, { force: true }); // left by a process that was killed
  server.on('error', (error) => log.warn({ err: error, path }, 'cannot open a socket for commands'));
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

async function readQuestion(message: IncomingMessage): Promise<unknown> {
  const body = await readBody(message, MAX_QUESTION_BYTES);
  if (body === undefined) throw new Error(`expected at most ${MAX_QUESTION_BYTES} bytes`);
  return JSON.parse(body.toString('utf8'));
}
