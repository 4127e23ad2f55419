/** The service killed in the middle of its fills, and what clients find afterwards. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { eventually } from '../eventually.ts';
import { type RunningService, startService } from '../process/service.ts';
import { addDomain } from '../process/service-with-domain.ts';
import { temporaryFolder } from '../temporary.ts';
import { answerFill, fetchFills, mixedFills } from './fills.ts';
import { startOrigin } from './origin.ts';

const HOST = 'www.example.com';
const FILLS = 1000;

/** Each round kills a worker, then everything; then the whole set must be right, to its last byte. */
export async function crashInRounds(t: TestContext, rounds: number): Promise<void> {
  const origin = await startOrigin(t, answerFill);
  const options = {
    dataDir: join(temporaryFolder(t), 'data'),
    settings: {
      CAUSEWAY_ORIGIN_ALLOW: '127.0.0.0/8',
      CAUSEWAY_EDGE_WORKERS: '2',
      CAUSEWAY_CACHE_MEMORY: '8MB',
      CAUSEWAY_CACHE_DISK_SIZE: '2GB',
    },
  };
  let service = await startService(t, options);
  await addDomain(service, origin.port);
  for (let round = 0; round < rounds; round++) {
    const fills = mixedFills(`round-${round}`, FILLS);
    const killAt = 200 + ((round * 37) % 200);
    let worker = service.pids()['edge-worker-1'];
    const found = await fetchFills(service.edgeUrl, HOST, fills, (done) => {
      if (done < killAt || worker === undefined) return;
      process.kill(worker, 'SIGKILL');
      worker = undefined;
    });
    assert.equal(found.filter((each) => each === 'wrong').length, 0, 'after a worker was killed');

    let isKilled = false;
    const again = mixedFills(`again-${round}`, FILLS);
    const cut = await fetchFills(service.edgeUrl, HOST, again, (done) => {
      if (done < killAt || isKilled) return;
      isKilled = true;
      killAll(service);
    });
    assert.equal(cut.filter((each) => each === 'wrong').length, 0, 'while all were killed');
    assert.ok(cut.includes('cut'), 'fills were under way when all were killed');
    await service.process.exit;
    service = await startService(t, options);
    await eventually('the edge serves', async () => {
      return (await fetchFills(service.edgeUrl, HOST, mixedFills('probe', 1)))[0] !== 'wrong';
    });
    const after = await fetchFills(service.edgeUrl, HOST, [...fills, ...again]);
    assert.equal(after.filter((each) => each !== 'right' && each !== 'hit').length, 0, `round ${round}`);
    assert.ok(after.includes('hit'), 'what was stored before is found');
  }
  await service.stop();
}

/** Kills the processes by their ids, children first: their parent would otherwise start them again. */
function killAll(service: RunningService): void {
  const children = Object.values(service.pids());
  const { pid } = service.process.child;
  if (pid !== undefined) process.kill(pid, 'SIGKILL');
  for (const child of children) {
    try {
      process.kill(child, 'SIGKILL');
    } catch {
      // It ended by itself when the one above went.
    }
  }
}
