/** Processor time of the tests, by process: the end of a run lists where most of it went. */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { TestContext } from 'node:test';

/** Processes in the list. */
const LISTED = 12;
/** Unit of the times in `/proc`. time(7) */
const TICKS_PER_SECOND = 100;
const TOLD = /^processor time: (\d+\.\d) s$/;

/** Body of the last test of a process. */
export function tellProcessorTime(t: Pick<TestContext, 'diagnostic'>): void {
  t.diagnostic(`processor time: ${processorSeconds().toFixed(1)} s`);
}

/** Returns what this process has used, with the processes that it started, and those that they started, as far as they have ended. */
export function processorSeconds(): number {
  const afterName = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1) ?? '';
  // utime, stime, cutime and cstime. proc_pid_stat(5)
  const ticks = afterName.split(' ').slice(11, 15).map(Number);
  return ticks.reduce((sum, each) => sum + each, 0) / TICKS_PER_SECOND;
}

export class ProcessorTimes {
  readonly #seconds = new Map<string, number>();

  /** Takes a diagnostic of a process; `file`: its module. */
  note({ file, message }: { readonly file?: string | undefined; readonly message: string }): void {
    const [, seconds] = TOLD.exec(message) ?? [];
    if (file !== undefined && seconds !== undefined) this.#seconds.set(basename(file, '.test.ts'), Number(seconds));
  }

  /** Returns lines for people; none if there is nothing to compare. */
  get lines(): readonly string[] {
    if (this.#seconds.size < 2) return [];
    const total = [...this.#seconds.values()].reduce((sum, each) => sum + each, 0);
    const dearest = [...this.#seconds].sort(([, a], [, b]) => b - a).slice(0, LISTED);
    return [
      `${total.toFixed(0)} s of processor time in ${this.#seconds.size} processes, most of it in:`,
      ...dearest.map(([name, seconds]) => `${seconds.toFixed(1).padStart(8)} s  ${name}`),
    ];
  }
}
