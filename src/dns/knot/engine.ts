/**
 * Feeds Knot DNS: at most once a second it writes what has changed, has Knot take it, and asks Knot whether it answers so. If
 * it does not, the former files come back. docs/decisions/0723
 */
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ListenAddress } from '#lib/listen-address.ts';
import type { Logger } from '#lib/logger.ts';
import { type Rounds, startRounds } from '#lib/rounds.ts';
import type { DnsZones } from '../zones.ts';
import { askAddresses } from './question.ts';
import {
  FILES,
  renderConfig,
  renderGeoip,
  renderRecord,
  renderRoutingZone,
  renderSuffixZone,
  type SetAnswers,
} from './render.ts';

export interface KnotOptions {
  /** Where Knot reads its files. */
  readonly directory: string;
  /** Knot's control socket. */
  readonly socket: string;
  /** Where Knot answers. */
  readonly listen: ListenAddress;
  /** A template of the operator's configuration for both zones. */
  readonly template: string | undefined;
  readonly zones: DnsZones;
  readonly ttl: number;
  readonly ownAddresses: () => readonly string[];
  readonly source: KnotSource;
  readonly log: Logger;
}

interface KnotSource {
  /** All names below the suffix, each with the label of its set. */
  names(): Iterable<readonly [name: string, label: string]>;
  /** Label of a name's set; `undefined` if the name is gone. */
  labelOf(name: string): string | undefined;
  /** Names that may have changed since the last call; `all`: any may. */
  takeChanged(): 'all' | readonly string[];
  /** `undefined` while edges have not been probed. */
  answers(): readonly SetAnswers[] | undefined;
}

export interface Knot extends AsyncDisposable {
  /** Changes that Knot has taken, and those that failed, since the start. */
  readonly applied: number;
  readonly failed: number;
  /** Why the last change failed; `undefined`: it did not. */
  readonly problem: string | undefined;
}

const ROUND_MS = 1000;
/** Pause after a failure: Knot may be away for long. */
const RETRY_MS = 5000;
/** Names that are changed by single commands; beyond, the whole file is read. */
const MAX_SINGLE = 100;
/** The file of names is written anew so often, for the next start of Knot. */
const NAMES_FILE_MS = 60_000;
const COMMAND_MS = 10_000;
/** Answers that are compared after a change. */
const SAMPLES = 3;

const run = promisify(execFile);

export function startKnot(options: KnotOptions): Knot {
  return new RunningKnot(options);
}

class RunningKnot implements Knot {
  readonly #options: KnotOptions;
  readonly #rounds: Rounds;
  applied = 0;
  failed = 0;
  problem: string | undefined;
  #retryAt = 0;
  /** Texts of the files as Knot has taken them; `undefined`: not known. */
  #taken: { readonly routing: string; readonly geoip: string } | undefined;
  #hasConfig = false;
  #isNamesDue = true;
  #namesWrittenAt = 0;

  constructor(options: KnotOptions) {
    this.#options = options;
    this.#rounds = startRounds({
      everyMs: ROUND_MS,
      work: () => this.#round(),
      onFailure: (error) => this.#fail(error),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#rounds[Symbol.asyncDispose]();
    try {
      if (!this.#isNamesDue) this.#writeNames(); // else Knot has an earlier state, and the file stays with it
    } catch (error) {
      this.#options.log.error({ err: error }, 'cannot write the file of names for Knot DNS');
    }
  }

  async #round(): Promise<void> {
    if (performance.now() < this.#retryAt) return;
    if (!this.#hasConfig) this.#writeConfig();
    const sets = this.#options.source.answers();
    if (sets === undefined) return;
    try {
      await this.#applyRouting(sets);
    } finally {
      await this.#applyNames(); // new domains do not wait for a routing table that Knot refuses
    }
    this.problem = undefined;
  }

  #fail(error: unknown): void {
    const { log } = this.#options;
    const problem = error instanceof Error ? error.message.trim() : String(error);
    if (problem !== this.problem) log.error({ err: error }, 'Knot DNS has not taken a change; it keeps its answers');
    this.problem = problem;
    this.failed += 1;
    this.#isNamesDue = true;
    this.#retryAt = performance.now() + RETRY_MS;
  }

  async #applyRouting(sets: readonly SetAnswers[]): Promise<void> {
    const { zones, ttl, ownAddresses } = this.#options;
    const before = this.#taken;
    const next = {
      routing: renderRoutingZone(zones, sets, { ttl, ownAddresses: ownAddresses() }),
      geoip: renderGeoip(zones, sets),
    };
    if (before?.geoip === next.geoip && before.routing === next.routing) return;
    this.#writeRouting(next);
    try {
      await this.#knotc('reload');
      // The module does not load at the first reload after signing was turned on.
      if (!(await this.#answersAs(sets))) await this.#knotc('reload');
      if (!(await this.#answersAs(sets))) throw new Error('Knot DNS answers otherwise than it was told');
    } catch (error) {
      if (before !== undefined) {
        this.#writeRouting(before);
        await this.#knotc('reload').catch(() => {}); // the first problem is told
      }
      throw error;
    }
    this.#taken = next;
    this.applied += 1;
  }

  #writeRouting({ routing, geoip }: { readonly routing: string; readonly geoip: string }): void {
    this.#write(FILES.routing, routing);
    this.#write(FILES.geoip, geoip);
  }

  /** Compares the answers of the first set that has edges to clients of its first, last and middle network. */
  async #answersAs(sets: readonly SetAnswers[]): Promise<boolean> {
    const { zones, listen } = this.#options;
    const used = sets.filter(({ answers }) => answers.some(({ addresses }) => addresses.length > 0));
    const [set] = used;
    if (set === undefined) return true;
    const { label, answers } = set;
    const samples = Array.from(
      { length: SAMPLES },
      (_, n) => answers[Math.floor((n * (answers.length - 1)) / (SAMPLES - 1))],
    );
    const compared = samples.map(async (sample) => {
      if (sample === undefined) return true;
      const { network, addresses } = sample;
      const type = addresses.some((address) => !address.includes(':')) ? 'A' : 'AAAA';
      const wanted = addresses.filter((address) => address.includes(':') === (type === 'AAAA'));
      const found = await askAddresses(listen, { name: `${label}.${zones.routing}`, type, network });
      return found.rcode === 0 && found.addresses.toSorted().join() === wanted.toSorted().join();
    });
    return (await Promise.all(compared)).every(Boolean);
  }

  async #applyNames(): Promise<void> {
    const { source, zones } = this.#options;
    const changed = source.takeChanged();
    if (this.#isNamesDue || changed === 'all' || changed.length > MAX_SINGLE) {
      this.#isNamesDue = true; // until it is done
      this.#writeNames();
      await this.#knotc('-b', 'zone-reload', zones.suffix);
      this.#isNamesDue = false;
      this.applied += 1;
      return;
    }
    if (changed.length > 0) await this.#changeNames(changed);
    else if (performance.now() - this.#namesWrittenAt > NAMES_FILE_MS) this.#writeNames();
  }

  async #changeNames(names: readonly string[]): Promise<void> {
    const { source, zones } = this.#options;
    const zone = zones.suffix;
    await this.#knotc('zone-begin', zone);
    try {
      for (const name of names) {
        const label = source.labelOf(name);
        await this.#knotc('zone-unset', zone, name).catch(() => {}); // it is not there yet
        if (label !== undefined) await this.#knotc('zone-set', zone, ...renderRecord(name, label, zones));
      }
      await this.#knotc('zone-commit', zone);
    } catch (error) {
      await this.#knotc('zone-abort', zone).catch(() => {}); // the first problem is told
      throw error;
    }
    this.applied += 1;
  }

  /** Knot, which runs as another user, can read a directory that is made here. */
  #writeConfig(): void {
    const { directory, zones, ttl, template } = this.#options;
    const made = mkdirSync(directory, { recursive: true });
    if (made !== undefined) chmodSync(directory, 0o755);
    this.#write(FILES.config, renderConfig(zones, { directory, ttl, template }));
    this.#hasConfig = true;
  }

  #writeNames(): void {
    const { source, zones } = this.#options;
    this.#write(FILES.suffix, renderSuffixZone(zones, source.names()));
    this.#namesWrittenAt = performance.now();
  }

  /** Knot runs as another user. */
  #write(name: string, text: string): void {
    const path = join(this.#options.directory, name);
    writeFileSync(`${path}.part`, text);
    chmodSync(`${path}.part`, 0o644);
    renameSync(`${path}.part`, path);
  }

  async #knotc(...words: readonly string[]): Promise<void> {
    const args = ['-s', this.#options.socket, '-t', String(COMMAND_MS / 1000), ...words];
    await run('knotc', args, { timeout: COMMAND_MS + 1000, killSignal: 'SIGKILL' });
  }
}
