/** What a customer reads of the live streams of its domains. docs/decisions/0500, 0501 */
import { randomBytes } from 'node:crypto';
import { ServiceError } from '#contract/errors/service-error.ts';
import { OPERATIONS } from '#contract/operations.ts';
import type { RouteName } from '#contract/routes.ts';
import { listBroadcasts, listViewers, type ViewerGrain } from '#db/tables/live/history.ts';
import { listStreamFacts, pageStreams } from '#db/tables/live/streams.ts';
import { DAY_MS, HOUR_MS } from '#lib/durations.ts';
import type { Domain } from '#model/domain.ts';
import { parseDomainName } from '#model/domain-name.ts';
import { isLive } from '#model/edge-live.ts';
import { isOnAir, listStreamStates, type ViewerCounts } from '#model/live-stream.ts';
import { changeKeys, rotate } from '../settings/live-changes.ts';
import { refuseMissing } from '../settings/refuse-missing.ts';
import { liveAddresses } from '../wire/live-addresses.ts';
import { timeRange } from '../wire/time-range.ts';
import type { Call, Handler } from './handler.ts';
import { readLiveDomain } from './live-domain.ts';
import { LIVE_RECORDING_HANDLERS } from './live-recordings.ts';

export const HISTORY_DEFAULT_MS = 30 * DAY_MS;
const EXPIRE_DEFAULT_SECONDS = 24 * 3600;

const SPANS: Readonly<
  Record<ViewerGrain, { readonly sizeMs: number; readonly defaultMs: number; readonly maxDays: number }>
> = {
  minute: { sizeMs: 60_000, defaultMs: HOUR_MS, maxDays: 1 },
  hour: { sizeMs: HOUR_MS, defaultMs: DAY_MS, maxDays: 31 },
};

export const LIVE_HANDLERS = {
  ...LIVE_RECORDING_HANDLERS,

  'live.streams': async (call, { name }) => {
    const { id: domainId } = await readLiveDomain(call, name);
    return listStreamStates(await listStreamFacts(call.db.query, { domainId, now: call.now }), call.now);
  },

  'live.history': async (call, { name, from, to, ...filter }) => {
    const { id: domainId } = await readLiveDomain(call, name);
    const range = timeRange({ from, to }, call.now, HISTORY_DEFAULT_MS);
    return await listBroadcasts(call.db.query, { domainId, ...filter, ...range });
  },

  'live.viewers': async (call, { name, grain, from, to, ...which }) => {
    const { id: domainId } = await readLiveDomain(call, name);
    const { sizeMs, defaultMs, maxDays } = SPANS[grain];
    const range = timeRange({ from, to }, call.now, defaultMs);
    if (range.to - range.from > maxDays * DAY_MS) {
      const span = { 'zh-CN': `${maxDays} 天`, en: maxDays === 1 ? 'a day' : `${maxDays} days` };
      throw new ServiceError('timeRangeTooLong', { interval: grain, span });
    }
    const begin = range.from - (range.from % sizeMs);
    const list = await listViewers(call.db.query, { domainId, ...which, grain, from: begin, to: range.to + 1 });
    return { now: await countViewers(call, domainId, which), grain, list };
  },

  'live.list': async (call, { name, ...filter }) => {
    const { db, accountId, domainIds, now } = call;
    const domainId = name === undefined ? undefined : (await readLiveDomain(call, name)).id;
    return { ...(await pageStreams(db.query, { ...filter, accountId, domainIds, domainId, now })), now };
  },

  'live.preview': async (call, { name, app, stream }) => {
    const { session } = call.by;
    if (session === undefined) throw new ServiceError('previewNeedsSession');
    const { id: domainId } = await readLiveDomain(call, name);
    const onAir = await listStreamFacts(call.db.query, { domainId, app, stream, state: 'ONGOING', now: call.now });
    if (onAir.length === 0) throw new ServiceError('liveNotOnAir', { app, stream });
    return call.previewUrl({ sessionId: session.id, domainId, domain: name, app, stream }, call.now);
  },

  'live.pushInfo': async (call, { name, app, stream, host, expireSeconds = EXPIRE_DEFAULT_SECONDS }) => {
    const domain = await readLiveDomain(call, name);
    const { accountId, domainIds, now } = call;
    const asked = { accountId, domainIds, domainId: domain.id, now };
    const keys = await changeKeys(call.db, call.keyring, asked, (present) =>
      present.publish.length > 0 ? present : { ...present, publish: rotate([]) },
    );
    return liveAddresses({
      host: chooseHost(domain, host),
      app,
      stream,
      keys,
      ports: call.livePorts,
      hasTls: domain.settings.sslControl,
      forcesTls: domain.settings.https.forceHttps,
      expiresAt: now - (now % 1000) + expireSeconds * 1000,
      random: randomBytes(8).toString('hex'),
    });
  },
} satisfies { readonly [N in RouteName as N extends `live.${string}` ? N : never]: Handler<N> };

/** Chooses the host; on a wildcard domain, one of the names under it. */
function chooseHost({ name }: Domain, asked: string | undefined): string {
  if (asked === undefined) {
    return name.startsWith('*.') ? refuseMissing(OPERATIONS['live.pushInfo'].request.fields, 'host') : name;
  }
  const parsed = parseDomainName(asked);
  const host = parsed.kind === 'name' ? parsed.name : '';
  const isUnder = name.startsWith('*.') && host.endsWith(name.slice(1)) && !host.startsWith('*');
  if (host !== '' && (isUnder || host === name) && !host.startsWith('*')) return host;
  throw new ServiceError('liveHostInvalid', { name });
}

interface Which {
  readonly app: string | undefined;
  readonly stream: string | undefined;
}

async function countViewers({ db, now }: Call, domainId: number, { app, stream }: Which): Promise<ViewerCounts> {
  const streams = await listStreamFacts(db.query, { domainId, state: 'ONGOING', now });
  const counted = streams.filter(
    (one) =>
      isOnAir(one) &&
      isLive(one, now) &&
      (app === undefined || one.app === app) &&
      (stream === undefined || one.stream === stream),
  );
  const total = (kind: keyof ViewerCounts) =>
    counted.reduce((sum, { status }) => sum + (status?.viewers[kind] ?? 0), 0);
  return { flv: total('flv'), websocket: total('websocket'), rtmp: total('rtmp'), hls: total('hls') };
}
