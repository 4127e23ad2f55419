/** Edges as processes of their own, and what each last said that it applied. */
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import type { Applied } from './feed-edge.ts';

export class Fleet {
  readonly #children: ChildProcess[] = [];
  readonly #applied: Applied[] = [];
  #wake = () => {};

  constructor(socketPath: string, folder: string, name: string, size: number) {
    for (let i = 0; i < size; i++) {
      const child = fork(join(import.meta.dirname, 'feed-edge.ts'), [socketPath, `${name}-${i}`, folder]);
      child.on('message', (message) => {
        this.#applied[i] = message as Applied; // the only message that these children send
        this.#wake();
      });
      this.#children.push(child);
    }
  }

  get revision(): number {
    return Math.max(...this.#applied.map(({ revision }) => revision));
  }

  /** Waits until every edge runs the same revision. */
  async settled(timeoutMs: number): Promise<void> {
    const deadline = nowMs() + timeoutMs;
    const isSettled = () => {
      const known = this.#applied.filter((applied) => applied !== undefined);
      return known.length === this.#children.length && known.every(({ revision }) => revision === this.revision);
    };
    while (!isSettled()) {
      if (nowMs() > deadline) throw new Error('the edges did not come up');
      await this.#next();
    }
  }

  /** When the last edge had applied the revision. */
  async applied(revision: number): Promise<number> {
    while (!this.#applied.every((applied) => applied.revision >= revision)) await this.#next();
    return Math.max(...this.#applied.map(({ atMs }) => atMs));
  }

  stop(): void {
    for (const child of this.#children) child.disconnect();
  }

  #next(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      setTimeout(resolve, 1000).unref();
    });
  }
}

/** Returns the time on the machine's monotonic clock, which all its processes share. */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
