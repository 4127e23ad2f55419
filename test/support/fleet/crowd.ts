/** Many edges in a few processes. Their number is `CAUSEWAY_EDGES`, so that a small machine can try less. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StoredIdentity } from '#fleet/identity.ts';
import { type Cleanup, temporaryFolder } from '../temporary.ts';
import type { Downloaded, DownloadOrder, FollowOrder } from './crowd-process.ts';

const PROCESSES = 4;

export const EDGES = Number(process.env['CAUSEWAY_EDGES'] ?? 1000);

export interface Crowd {
  /** Each edge follows the feed until the test ends. */
  follow(order: Omit<FollowOrder, 'kind' | 'identities'>): void;
  /** Resolves when each edge has downloaded and verified a snapshot. */
  download(order: Omit<DownloadOrder, 'kind' | 'identities'>): Promise<Downloaded>;
}

export function startCrowd(t: Cleanup, identities: readonly StoredIdentity[]): Crowd {
  const folder = temporaryFolder(t);
  const members = Array.from({ length: PROCESSES }, (_, n) => {
    const file = join(folder, `${n}.json`);
    const own = identities.filter((_identity, index) => index % PROCESSES === n);
    writeFileSync(file, JSON.stringify(own), { mode: 0o600 });
    const child = fork(join(import.meta.dirname, 'crowd-process.ts'));
    t.after(async () => {
      if (child.connected) child.disconnect();
      if (child.exitCode === null) await once(child, 'exit');
    });
    return { child, file };
  });
  return {
    follow(order) {
      for (const { child, file } of members)
        child.send({ ...order, kind: 'follow', identities: file } satisfies FollowOrder);
    },
    async download(order) {
      const all = members.map(async ({ child, file }) => {
        child.send({ ...order, kind: 'download', identities: file } satisfies DownloadOrder);
        return await answerOf(child);
      });
      const done = await Promise.all(all);
      const sum = (of: keyof Downloaded) => done.reduce((total, each) => total + each[of], 0);
      return { complete: sum('complete'), refused: sum('refused'), failed: sum('failed'), bytes: sum('bytes') };
    },
  };
}

/** Rejects if the process ends before. */
async function answerOf(child: ChildProcess): Promise<Downloaded> {
  const stop = new AbortController();
  const ended = once(child, 'exit', { signal: stop.signal }).then(() => {
    throw new Error('a process of the crowd has ended');
  });
  try {
    // `as`: the only message that these processes send.
    const [message] = (await Promise.race([once(child, 'message', { signal: stop.signal }), ended])) as [Downloaded];
    return message;
  } finally {
    stop.abort();
    ended.catch(() => undefined);
  }
}
