/** A control that says what a test tells it to, right or wrong, over a unix socket. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { zstdCompressSync } from 'node:zlib';
import type { ResourceChange } from '#feed/wire/protocol.ts';
import type { EdgeStatus } from '#model/edge.ts';
import { siteSpec } from './feed.ts';

export interface ScriptedControl extends AsyncDisposable {
  /** Query strings of the streams that were asked for, in their order. */
  readonly streams: string[];
  /** How many snapshots were asked for. */
  snapshots: number;
  readonly reports: EdgeStatus[];
  /** Why reports are not taken; `undefined`: they are. */
  refusal: string | undefined;
  /** Answers all requests, if there is one. */
  beforeAnswer: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  /** What the next snapshots are. */
  snapshot: Buffer;
  /** Writes to the stream that is open; resolves when there is one. */
  say(text: string): Promise<void>;
  /** Sends a delta with the tag `t<to>`. */
  sayDelta(from: number, to: number, ...changes: readonly ResourceChange[]): Promise<void>;
  hangUp(): void;
}

export async function startScriptedControl(socketPath: string): Promise<ScriptedControl> {
  let stream: ServerResponse | undefined;
  let opened = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    if (control.beforeAnswer !== undefined) return control.beforeAnswer(request, response);
    const [path, query = ''] = request.url?.split('?') ?? [];
    if (path === '/edge/v1/snapshot') {
      control.snapshots += 1;
      response.end(control.snapshot);
    } else if (path === '/edge/v1/status') {
      control.reports.push(JSON.parse(await text(request)));
      if (control.refusal === undefined) response.writeHead(204).end();
      else response.writeHead(409).end(`${control.refusal}\n`);
    } else {
      control.streams.push(query);
      response.writeHead(200).write(':\n\n');
      stream = response;
      opened.resolve();
      response.on('close', () => {
        if (stream !== response) return;
        stream = undefined;
        opened = Promise.withResolvers();
      });
    }
  });
  const control: ScriptedControl = {
    streams: [],
    snapshots: 0,
    reports: [],
    refusal: undefined,
    beforeAnswer: undefined,
    snapshot: makeSnapshot({ revision: 1 }),
    async say(words) {
      await opened.promise;
      stream?.write(words);
    },
    async sayDelta(from, to, ...changes) {
      await control.say(`id: ${to}\nevent: delta\ndata: ${JSON.stringify({ from, to, tag: `t${to}`, changes })}\n\n`);
    },
    hangUp: () => stream?.destroy(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  server.listen(socketPath);
  await once(server, 'listening');
  return control;
}

export function put(id: number, key: string, revision: number, body: unknown = siteSpec(id, key)): ResourceChange {
  return { kind: 'site', key, revision, op: 'put', body };
}

/** Right in count and hash, with the tag `t<revision>`, unless `head` says something else. */
export function makeSnapshot(head: Readonly<Record<string, unknown>>, ...changes: readonly ResourceChange[]): Buffer {
  const lines = changes.map((change) => `${JSON.stringify(change)}\n`).join('');
  const hash = createHash('sha256').update(lines).digest('hex');
  const tag = `t${head['revision'] ?? 1}`;
  const first = { epoch: 'e1', revision: 1, tag, continues: true, count: changes.length, hash, ...head };
  return zstdCompressSync(`${JSON.stringify(first)}\n${lines}`);
}
