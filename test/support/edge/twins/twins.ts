/**
 * Edges that must answer alike: one with shortcuts, one without, and one whose connections of HTTP/1 go to node:http before they ask.
 * Each has an origin of its own that says the same; the clock stands still but for what a test advances, so every byte can be compared.
 */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { createLocalTime } from '../../../../src/lib/local-time.ts';
import { formatLine } from '../../../../src/logs/line.ts';
import type { CertificatePair } from '../../../../src/sites/table.ts';
import { formatHit } from '../../logs/access-record.ts';
import { loopback, NO_ORIGINS, SITE_HOST, startTestEdge, type TestEdge } from '../edge.ts';
import type { ScriptedOrigin } from '../origin.ts';
import { type TwinChange, WILD_NAME } from './twin-changes.ts';
import { type Approach, openConnection, type TwinConnection } from './twin-clients.ts';
import { type Objects, startTwinOrigin } from './twin-origin.ts';
import { CHALLENGE_TOKEN, FOREIGN_HOST, OTHER_HOST, type TwinRequest } from './twin-requests.ts';

interface Twin {
  readonly isHanded: boolean;
  readonly edge: TestEdge;
  readonly origin: ScriptedOrigin;
  readonly lines: string[][];
  readonly connections: (TwinConnection | undefined)[];
}

export interface TwinAuthority {
  readonly ca: string;
  /** `c1` and `c2` cover the first site, `c1` the others too; `c3` is the foreign one's. */
  readonly certificates: ReadonlyMap<string, CertificatePair>;
}

const CACHE_BYTES = 16 * 1024 * 1024;
const STARTED_AT = Date.UTC(2026, 10, 28, 10);
const UTC = createLocalTime('UTC');

export class Twins {
  readonly #ca: string;
  readonly #twins: readonly Twin[];
  readonly #objects: Objects;
  readonly #time: { now: number };
  readonly #challenges: Map<string, string>;
  readonly #approaches: Approach[] = [];
  #lastId = 100;

  private constructor(
    ca: string,
    twins: readonly Twin[],
    state: { readonly objects: Objects; readonly time: { now: number }; readonly challenges: Map<string, string> },
  ) {
    this.#ca = ca;
    this.#twins = twins;
    this.#objects = state.objects;
    this.#time = state.time;
    this.#challenges = state.challenges;
  }

  static async start(t: Pick<TestContext, 'after'>, { ca, certificates }: TwinAuthority): Promise<Twins> {
    const time = { now: STARTED_AT };
    const objects: Objects = { version: 0, isDown: false };
    const challenges = new Map<string, string>();
    const clock = () => time.now;
    const start = async (hasShortcuts: boolean, isHanded: boolean): Promise<Twin> => {
      const origin = await startTwinOrigin(t, clock, objects);
      const lines: string[][] = [];
      const edge = await startTestEdge(t, [origin.port], {
        ...{ clock, certificates, cacheBytes: CACHE_BYTES },
        maxShortcutBytes: () => (hasShortcuts ? CACHE_BYTES / 16 : 0),
        proxies: { trusted: ['127.0.0.3'], protocol: 'required' },
        challenges: { getChallenge: (key) => challenges.get(key) },
        accessLog: {
          write: (domainId, record) => void lines.push([String(domainId), ...formatLine(record, UTC).split('\t')]),
          writeHit: (hit) => void lines.push([String(hit.domainId), ...formatHit(hit, UTC).split('\t')]),
          countOrigin: () => undefined,
        },
      });
      return { isHanded, edge, origin, lines, connections: [] };
    };
    const twins = await Promise.all([start(true, false), start(false, false), start(true, true)]);
    const started = new Twins(ca, twins, { objects, time, challenges });
    for (const [id, name] of [SITE_HOST, OTHER_HOST, WILD_NAME, FOREIGN_HOST].entries()) started.#addSite(name, id + 1);
    return started;
  }

  #addSite(name: string, id: number): void {
    const tls = { certificate: name === FOREIGN_HOST ? 'c3' : 'c1' };
    for (const { edge, origin } of this.#twins) {
      edge.put({ id, name, tls, origins: { ...NO_ORIGINS, primary: loopback([origin.port]) } });
    }
  }

  change(change: TwinChange): void {
    switch (change.kind) {
      case 'put':
        for (const { edge } of this.#twins) edge.put({ name: change.name, ...change.change });
        break;
      case 'origins':
        for (const { edge, origin } of this.#twins) {
          const { protocol, hostHeader } = change;
          // What follows the client's scheme has no origin by TLS here, which is an answer too.
          edge.put({
            name: SITE_HOST,
            origins: { ...NO_ORIGINS, primary: loopback([origin.port]), protocol, hostHeader },
          });
        }
        break;
      case 'remove':
        for (const { edge } of this.#twins) edge.remove(OTHER_HOST);
        if (change.comesBackAs !== undefined)
          this.#addSite(OTHER_HOST, change.comesBackAs === 'same' ? 2 : ++this.#lastId);
        break;
      case 'purge':
        for (const { edge } of this.#twins) edge.purge(change.scope);
        break;
      case 'list':
        for (const { edge } of this.#twins) edge.putList('1/list', change.entries);
        break;
      case 'advance':
        this.#time.now += change.ms;
        break;
      case 'object':
        this.#objects.version += 1;
        break;
      case 'down':
        this.#objects.isDown = change.isDown;
        break;
      case 'challenge':
        if (change.isThere) this.#challenges.set(`${SITE_HOST}/${CHALLENGE_TOKEN}`, 'token.key');
        else this.#challenges.clear();
    }
  }

  /** Sends on the connection with this number, which is opened if there is none, also after an answer that ended it. */
  async send(
    place: number,
    approach: Approach,
    requests: readonly TwinRequest[],
    cuts: readonly number[],
  ): Promise<void> {
    this.#approaches[place] ??= approach;
    const answers = await Promise.all(this.#twins.map((twin) => this.#sendTo(twin, place, requests, cuts)));
    await this.#compare(answers, requests);
  }

  /** The next request there opens another. */
  async close(place: number): Promise<void> {
    delete this.#approaches[place];
    for (const { connections } of this.#twins) {
      connections[place]?.close();
      connections[place] = undefined;
    }
    await this.#compare([], []);
  }

  async #sendTo(twin: Twin, place: number, requests: readonly TwinRequest[], cuts: readonly number[]) {
    const approach = this.#approaches[place];
    if (approach === undefined) return [];
    const { edge, connections } = twin;
    let connection = connections[place];
    if (connection === undefined || connection.isClosed) {
      connection = await openConnection(approach, { http: edge.port, https: edge.edge.https?.port ?? 0, ca: this.#ca });
      connections[place] = connection;
      if (twin.isHanded && approach.transport !== 'h2') await connection.send([HAND_OVER], []);
    }
    return connection.send(requests, cuts);
  }

  async #compare(answers: readonly (readonly unknown[])[], requests: readonly TwinRequest[]): Promise<void> {
    const [one, other, handed] = answers.map((its) => its.map(withoutBoundary));
    const context = JSON.stringify(requests.map(({ method, target, hosts }) => [method, target, hosts]));
    assert.deepEqual(one, other, `answers with and without shortcuts: ${context}`);
    assert.deepEqual(upToRefusal(one), upToRefusal(handed), `answers by ourselves and by node:http: ${context}`);
    await this.#settle(answers.map(countLogged));
    const [ready, asked, byNode] = this.#twins.map(linesOf);
    assert.deepEqual(ready, asked, `log lines with and without shortcuts: ${context}`);
    assert.deepEqual(
      ready?.map(asOfEither).sort(byText),
      byNode?.map(asOfEither).sort(byText),
      `log lines by node:http: ${context}`,
    );
    const [first, second, third] = this.#twins.map(askedOf);
    assert.deepEqual(first, second, `what origins were asked: ${context}`);
    assert.deepEqual(first, third, `what origins were asked by node:http: ${context}`);
    const [counted, alike] = await this.#counters();
    assert.deepEqual(counted, alike, `metrics: ${context}`);
    for (const twin of this.#twins) {
      twin.lines.length = 0;
      twin.origin.requests.length = 0;
    }
  }

  /** Each request has its line, a little after its answer; so does what is stored. */
  async #settle(logged: readonly number[]): Promise<void> {
    const deadline = performance.now() + SETTLE_MS;
    const isSettled = async () => {
      if (!this.#twins.every((twin, i) => linesOf(twin).length >= (logged[i] ?? 0))) return false;
      const [one, other] = await this.#counters();
      return isDeepStrictEqual(one, other);
    };
    for (let turns = 0; turns < 2 || (!(await isSettled()) && performance.now() < deadline); turns++) await turn();
  }

  #counters(): Promise<readonly unknown[]> {
    return Promise.all(this.#twins.slice(0, 2).map(countersOf));
  }

  /** How many answers were ready in the one with shortcuts, and in the one without. */
  async prepared(): Promise<readonly [number, number]> {
    const [one = 0, other = 0] = await Promise.all(this.#twins.map(({ edge }) => readCounter(edge, PREPARED)));
    return [one, other];
  }

  end(): void {
    for (const { connections } of this.#twins) for (const connection of connections) connection?.close();
  }
}

const SETTLE_MS = 10_000;
const PREPARED = 'causeway_edge_prepared_answers_total';
/** No site has the host, so no limit counts the request. */
const HAND_OVER: TwinRequest = {
  ...{ method: 'OPTIONS', target: '/hand-over', version: '1.1', hosts: ['hand-over.test'], fields: [] },
  ...{ body: undefined, isChunked: false },
};

/** Returns the lines without the times of invalid requests, which are not those of an answer. */
function linesOf({ lines }: Twin): string[][] {
  return lines
    .filter((line) => line[METHOD] !== '-' && line[METHOD + 1] !== HAND_OVER.target)
    .map((line) => line.map((field) => field.replace(BOUNDARY, 'boundary')))
    .sort(byText);
}

const METHOD = 7;

/** Counts the answers of the pipeline or of a shortcut. */
function countLogged(answers: readonly unknown[]): number {
  return answers.filter((answer) => /cache-status/i.test(JSON.stringify(answer))).length;
}

/** A request is as long as it was, or as node:http gives it; of a refused one see `upToRefusal`. */
function asOfEither(line: readonly string[]): readonly string[] {
  return line[10]?.endsWith('/400') === true ? ['400'] : line.filter((_, i) => i !== 4);
}

const BOUNDARY = /[0-9a-f]{32}/g;

/** Removes the boundary of several ranges, which is random. */
function withoutBoundary(answer: unknown): unknown {
  return JSON.parse(JSON.stringify(answer).replaceAll(BOUNDARY, 'boundary'));
}

/** What is wrong with a request, its parser or the pipeline says, whoever is first; it is the last answer. */
function upToRefusal(answers: readonly unknown[] = []): readonly unknown[] {
  const at = answers.findIndex((answer) => JSON.stringify(answer).startsWith('{"head":["HTTP/1.1 400 '));
  return at === -1 ? answers : [...answers.slice(0, at), '400'];
}

function askedOf({ origin }: Twin): unknown[] {
  return origin.requests
    .filter(({ target }) => target !== HAND_OVER.target)
    .map(({ method, target, rawHeaders, body }) => [method, target, rawHeaders.join('\n'), body]);
}

function byText(a: readonly string[], b: readonly string[]): number {
  return a.join() < b.join() ? -1 : 1;
}

async function countersOf({ edge }: Twin): Promise<unknown> {
  const text = await edge.registry.metrics();
  return text
    .split('\n')
    .filter((line) => line.startsWith('causeway_') && !/prepared|malformed|_seconds_(?:bucket|sum)/.test(line));
}

async function readCounter({ registry }: TestEdge, name: string): Promise<number> {
  const metric = await registry.getSingleMetric(name)?.get();
  return metric?.values[0]?.value ?? 0;
}
