/** Kills fillers of one cache directory in the middle of it, and looks at every object that is left. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { DiskStore } from '../../../src/edge/store/disk/disk.ts';
import { FILLER_KEYS } from './store-filler.ts';

const FILLER = join(import.meta.dirname, 'store-filler.ts');
const FILLERS = 2;
const MIB = 2 ** 20;
/** Each filler puts two objects a step; how many steps before it is killed differs from round to round. */
const MIN_STEPS = 15;
const STEPS_SPREAD = 60;

export interface CrashRound {
  /** Objects that were found, and read whole. */
  readonly objects: number;
}

export async function crashRound(directory: string, round: number): Promise<CrashRound> {
  const fillers = Array.from({ length: FILLERS }, (_, i) => startFiller(directory, round * 1_000 + i * 500));
  await Promise.all(fillers.map((filler) => steps(filler, MIN_STEPS + ((round * 37) % STEPS_SPREAD))));
  const ended = fillers.map((filler) => once(filler, 'exit'));
  for (const filler of fillers) filler.kill('SIGKILL');
  await Promise.all(ended);
  return { objects: await checkObjects(directory) };
}

function startFiller(directory: string, seed: number): ChildProcess {
  return spawn(process.execPath, [FILLER, directory, String(seed)], { stdio: ['ignore', 'pipe', 'inherit'] });
}

function steps(filler: ChildProcess, count: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let done = 0;
  filler.stdout?.on('data', (text: Buffer) => {
    done += text.length;
    if (done >= count) resolve();
  });
  filler.once('exit', () => reject(new Error('the filler has ended by itself'))); // nothing, once it was enough
  return promise;
}

/** Every body that is handed out is the one that its head speaks of. */
async function checkObjects(directory: string): Promise<number> {
  await using store = new DiskStore({ directory, maxBytes: 200 * MIB, onProblem: failOnTrouble });
  await store.settle(); // what is on disk has been read
  let objects = 0;
  for (let i = 0; i < FILLER_KEYS; i++) {
    const { variants = [] } = (await store.find(`k${i}`)) ?? {};
    for (const { body, etag } of variants) {
      if ((await body.prepare?.()) === false) continue; // lost in the race of two workers: a miss
      const hash = createHash('sha256');
      let size = 0;
      for await (const piece of body.read({ first: 0, last: body.sizeBytes - 1 })) {
        hash.update(piece);
        size += piece.length;
      }
      assert.equal(size, body.sizeBytes);
      assert.equal(hash.digest('hex'), etag, `k${i}`);
      objects += 1;
    }
  }
  return objects;
}

function failOnTrouble(problem: string, error: unknown): void {
  if (problem !== 'damaged') throw new Error(problem, { cause: error });
}
