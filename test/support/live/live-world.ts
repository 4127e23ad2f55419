/**
 * The live process's parts in the test's own process: real sockets, the edge's own file, and a control that only listens. Domain 7
 * is `live.example.com`, domain 8 `other.example.com`; limits are short, so that a test need not wait for those of the design.
 */
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { Registry } from 'prom-client';
import { acceptPut } from '#feed/client/accept.ts';
import { openEdgeStore, openSiteReader } from '#feed/store/edge-store.ts';
import type { LiveReport } from '#feed/wire/live-report.ts';
import { parseRecordingMessage, type RecordingMessage } from '#feed/wire/recording-message.ts';
import { systemClock } from '#lib/clock.ts';
import { systemTimers } from '#lib/timers.ts';
import type { LivePlaces } from '#live/hand-over.ts';
import { type LiveProcess, type LiveProcessOptions, startLiveProcess } from '#live/live-process.ts';
import type { AccessRecord } from '#logs/line.ts';
import type { LiveKeys, LiveMark } from '#sites/live.ts';
import type { SiteSpec } from '#sites/spec.ts';
import type { CertificatePair } from '#sites/table.ts';
import { eventually } from '../eventually.ts';
import { silentLog, siteSpec } from '../feed/feed.ts';
import { temporaryFolder } from '../temporary.ts';
import { RtmpClient, sampleMessages } from './rtmp-client.ts';

const RECORD_SPOOL = 64 * 1024 * 1024;
export const HOST = 'live.example.com';
export const OTHER_HOST = 'other.example.com';
export type LiveEvent = LiveReport['events'][number];

export interface LiveWorld {
  readonly live: LiveProcess;
  /** Events that control has taken, in order, as `began a` and `ended a lost`. */
  readonly told: string[];
  readonly events: LiveEvent[];
  /** Pieces and ends of recordings that control has taken, in order. */
  readonly recorded: RecordingMessage[];
  readonly spoolDirectory: string;
  /** Files of recordings that wait in the spool, as `<domain>.<recording>/<name>`. */
  spooled(): string[];
  /** Returns a metric of the process; 0 if there is none with this name and these labels. */
  metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number>;
  /** Lines of the access log. */
  readonly lines: AccessRecord[];
  /** The latest report. */
  report(): LiveReport | undefined;
  /** Control takes reports, or refuses them. */
  control: { isAway: boolean; notOwned: readonly string[] };
  /**
   * State of each stream in the latest line of the list that workers read: `live` in domain 7 by name, others as `8/app/name`.
   */
  readonly states: ReadonlyMap<string, string>;
  /** Connected; to `live` of domain 7 unless `place` says otherwise. */
  publisher(place?: Place): Promise<RtmpClient>;
  /** A publisher that is on air. */
  publish(stream: string, place?: Place): Promise<RtmpClient>;
  setMark(stream: string, mark: LiveMark): void;
  setKeys(keys: LiveKeys, domainId?: number): void;
  setSite(changed: Partial<SiteSpec>): void;
  addCertificate(key: string, pair: CertificatePair): void;
  openFlv(stream: string): Promise<IncomingMessage>;
  get(path: string): Promise<IncomingMessage>;
  /** Stops the live process, and starts another one. Connections have `graceMs` to end by themselves, 0 if absent. */
  restart(graceMs?: number): Promise<void>;
  /**
   * Starts a process that takes over from the present one, and lets that drain. Resolves when the new one listens;
   * `drained` when the earlier one has ended.
   */
  handOver(limitMs: number): Promise<{ readonly drained: Promise<void> }>;
  /** What the process of a generation has of its own; they count from 0. */
  placesOf(generation: number): LivePlaces;
}

interface Place {
  readonly app?: string;
  readonly host?: string;
}

export async function startLiveWorld(
  t: Pick<TestContext, 'after'>,
  options: Partial<
    Pick<
      LiveProcessOptions,
      'limits' | 'pushAuth' | 'pullLimits' | 'rtmpsListen' | 'memoryBytes' | 'maxStreams' | 'log'
    >
  > & { readonly recordSpool?: number; readonly spoolDirectory?: string } = {},
): Promise<LiveWorld> {
  const folder = temporaryFolder(t);
  const settings = join(folder, 'sites.db');
  const store = openEdgeStore(settings, () => undefined);
  let site: SiteSpec = { ...siteSpec(7, HOST), type: 'live' };
  let revision = 1;
  {
    using staging = store.stageSnapshot();
    for (const body of [site, { ...siteSpec(8, OTHER_HOST), type: 'live' }])
      staging.add(acceptPut({ kind: 'site', key: body.name, revision, op: 'put', body }));
    staging.commit({ epoch: 'e', revision, tag: 't', continues: true }, 1);
  }
  const source = openSiteReader(settings);
  const control: LiveWorld['control'] = { isAway: false, notOwned: [] };
  const events: LiveEvent[] = [];
  const told: string[] = [];
  const lines: AccessRecord[] = [];
  const recorded: RecordingMessage[] = [];
  let latest: LiveReport | undefined;
  const spoolDirectory = options.spoolDirectory ?? join(folder, 'recordings');
  let registry = new Registry();
  const placesOf = (generation: number): LivePlaces => ({
    socketPath: join(folder, `live${generation}.relay.sock`),
    file: join(folder, `live${generation}.db`),
    recordings: generation === 0 ? spoolDirectory : `${spoolDirectory}-${generation}`,
  });
  const taken = new Map<string, number>();
  let generation = 0;
  const start = (predecessors: readonly LivePlaces[] = []) => {
    registry = new Registry();
    return startLiveProcess({
      edgeId: 'test',
      source,
      ...placesOf(generation),
      workersPath: join(folder, 'live.sock'),
      predecessors,
      others: [0, 1, 2]
        .map(placesOf)
        .filter((each) => ![placesOf(generation), ...predecessors].some((one) => one.file === each.file)),
      rtmpListen: { host: '127.0.0.1', port: 0 },
      rtmpsListen: 'off',
      pushAuth: 'off',
      trustedProxies: [],
      proxyProtocol: 'off',
      memoryBytes: 1024 ** 3,
      accessLog: { write: (_, record) => void lines.push(record), countOrigin: () => undefined },
      // What the guard refuses is its own test's; here origins are on the loopback.
      connectOrigin: async ({ host, port }) => {
        const socket = connect({ host, port });
        try {
          await once(socket, 'connect');
          return { kind: 'connected', socket };
        } catch (error) {
          return { kind: 'failed', isTimeout: false, detail: String(error) };
        }
      },
      post: async (report) => {
        if (control.isAway) throw new Error('control is away');
        if (report.streams !== undefined) latest = report;
        const { epoch } = report;
        const fresh = report.events.filter(({ n }) => n > (taken.get(epoch) ?? 0));
        taken.set(epoch, fresh.at(-1)?.n ?? taken.get(epoch) ?? 0);
        events.push(...fresh);
        told.push(...fresh.map(describe));
        return { taken: taken.get(epoch) ?? 0, notOwned: control.notOwned };
      },
      reportMs: 50,
      recording: {
        maxBytes: options.recordSpool ?? RECORD_SPOOL,
        post: async (body) => {
          if (control.isAway) throw new Error('control is away');
          const message = parseRecordingMessage(body);
          if (message === undefined) return 'refused';
          recorded.push(message);
          return 'taken';
        },
      },
      clock: systemClock,
      timers: systemTimers,
      log: silentLog,
      registry,
      ...options,
    });
  };
  let live = await start();
  const draining: LiveProcess[] = [];
  const change = (kind: string, key: string, body: unknown) => {
    revision++;
    store.applyDelta({ revision, tag: `t${revision}` }, [acceptPut({ kind, key, revision, op: 'put', body })], 1);
    for (const each of [...draining, live]) each.applyChange(kind === 'site' ? [key] : []);
  };
  const get = async (path: string): Promise<IncomingMessage> => {
    const asked = request({ socketPath: join(folder, 'live.sock'), path, agent: false }).end();
    // `as`: what the event `response` of a client request carries.
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    response.on('error', () => undefined);
    return response;
  };
  const states = new Map<string, string>();
  const follow = async () => {
    states.clear();
    const list = await get('/streams');
    let rest = '';
    list.setEncoding('utf8').on('data', (text: string) => {
      const lines = `${rest}${text}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines.map((each) => JSON.parse(each))) {
        if (line.synced === true) states.set('', 'synced');
        else if (line.stream !== undefined) states.set(stateKey(line), line.state);
      }
    });
    await eventually('the list is whole', () => states.has(''));
  };
  await follow();
  const clients: RtmpClient[] = [];
  t.after(() => Promise.all(clients.map((client) => client[Symbol.asyncDispose]())));
  t.after(async () => {
    await Promise.all([...draining, live].map((each) => each.stop(0)));
    source[Symbol.dispose]();
    store[Symbol.dispose]();
  });
  const publisher = async ({ app = 'live', host = HOST }: Place = {}) => {
    const client = await RtmpClient.openStream({ port: live.rtmpPort, app, host });
    clients.push(client);
    return client;
  };
  return {
    get live() {
      return live;
    },
    told,
    events,
    lines,
    recorded,
    spoolDirectory,
    spooled: () =>
      readdirSync(spoolDirectory, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('/')),
    async metric(name, labels = {}) {
      const { values = [] } = (await registry.getSingleMetric(name)?.get()) ?? {};
      const wanted = Object.entries(labels);
      return values.find((value) => wanted.every(([label, text]) => value.labels[label] === text))?.value ?? 0;
    },
    report: () => latest,
    control,
    states,
    publisher,
    async publish(stream, place = {}) {
      const client = await publisher(place);
      const { code, description } = await client.publish(stream);
      if (code !== 'NetStream.Publish.Start') throw new Error(`${code}: ${description}`);
      for (const message of sampleMessages(10)) client.send(message);
      const key = stateKey({ domain: place.host === OTHER_HOST ? 8 : 7, app: place.app ?? 'live', stream });
      await eventually('it is on air', () => states.get(key) === 'live');
      return client;
    },
    setMark: (stream, mark) => change('live_mark', `7/live/${stream}`, mark),
    setKeys: (keys, domainId = 7) => change('live_keys', String(domainId), keys),
    setSite(changed) {
      site = { ...site, ...changed };
      change('site', HOST, site);
    },
    addCertificate: (key, pair) => change('certificate', key, pair),
    openFlv: (stream) => get(`/streams/7/live/${stream}/flv`),
    get,
    async restart(graceMs = 0) {
      await live.stop(graceMs);
      live = await start();
      await follow();
    },
    placesOf,
    async handOver(limitMs) {
      const earlier = live;
      const predecessors = Array.from({ length: draining.length + 1 }, (_, n) => placesOf(generation - n));
      generation++;
      live = await start(predecessors);
      draining.push(earlier);
      const drained = earlier.drain(limitMs).finally(() => draining.splice(draining.indexOf(earlier), 1));
      await eventually('the next process listens', () => live.rtmpPort > 0);
      await follow();
      return { drained };
    },
  };
}

function stateKey({ domain, app, stream }: { domain: number; app: string; stream: string }): string {
  return domain === 7 && app === 'live' ? stream : `${domain}/${app}/${stream}`;
}

function describe(event: LiveEvent): string {
  return event.kind === 'began' ? `began ${event.stream}` : `ended ${event.stream} ${event.reason}`;
}
