/** The process that owns the database: the management interface, and the feed that carries settings to edges. */
import { join } from 'node:path';
import type { ProviderSettings } from '#api/auth/provider.ts';
import type { CheckOrigin } from '#api/checks/checks.ts';
import { readConsoleFiles } from '#api/http/console/console-files.ts';
import { startApi } from '#api/server.ts';
import { startBandwidthChecks } from '#api/settings/account-bandwidth.ts';
import type { SmsHooks } from '#api/sms/sms-services.ts';
import type { LivePorts } from '#api/wire/live-addresses.ts';
import type { Config } from '#config';
import { type Db, openDatabase } from '#db/open.ts';
import type { Controls } from '#db/peers/peers.ts';
import { openKeyring } from '#db/rotation/sealed-secrets.ts';
import type { Keyring } from '#db/secrets/keyring.ts';
import { readFleet } from '#db/tables/fleet/authorities.ts';
import { publishServing } from '#db/tables/serving-resources.ts';
import { createConnector } from '#edge/origin/connector.ts';
import { createGuard, type Guard } from '#edge/origin/guard.ts';
import { createResolver } from '#edge/origin/resolve.ts';
import { cdnIdOf } from '#edge/origin-headers.ts';
import { checkOrigin } from '#edge/pipeline/check-origin.ts';
import type { ConnectorSources } from '#events/connectors.ts';
import { type FeedServer, startFeedServer } from '#feed/server/server.ts';
import { announceFleetId } from '#fleet/announcements.ts';
import { type EdgeStates, startEdgeStates } from '#fleet/edge-states.ts';
import { startTierAnnouncements } from '#fleet/tier-announcements.ts';
import { checkAutomata } from '#lib/automaton-check.ts';
import { type Clock, steadyClock } from '#lib/clock.ts';
import { DAY_MS } from '#lib/durations.ts';
import type { ListenAddress } from '#lib/listen-address.ts';
import type { Logger } from '#lib/logger.ts';
import { metricsOf } from '#lib/metrics.ts';
import { reportNodeInternals } from '#lib/node-internals/report.ts';
import { compileSite } from '#sites/compile.ts';
import { SMS_PROCEDURES } from '#sms/procedures.ts';
import { databaseOptions } from '../database/database-options.ts';
import { firstTokenPath } from '../process/announce.ts';
import type { PartContext, RunningPart } from '../process/child.ts';
import { ANYWHERE, createRefusedAddress, createWebhookSender } from '../process/webhook-sender.ts';
import { startAcme, warnOfStoppedRenewals } from './acme.ts';
import { joinControlPeers } from './control-peers.ts';
import { openBlobStore, openControlTraffic } from './control-traffic.ts';
import { startEvents } from './events.ts';
import { ensureFirstToken } from './first-token.ts';
import { startFleetControl } from './fleet-control.ts';
import { createReadMetrics } from './own-metrics.ts';
import { watchReplication } from './replication.ts';
import { type RunningSms, type SmsOptions, startSms } from './sms.ts';
import { watchStored } from './stored-metrics.ts';

export async function startControl(context: PartContext): Promise<RunningPart> {
  const { config, localSecret, ownAddresses, build, log, registry } = context;
  checkAutomata(); // it compiles settings before they are stored
  reportNodeInternals(log);
  await using stack = new AsyncDisposableStack();
  const db = stack.use(await openDatabase({ ...databaseOptions(config, log), procedures: SMS_PROCEDURES }));
  const { clock } = db;
  stack.use(await watchReplication({ ...context, db, databaseSynchronous: config.databaseSynchronous }));
  const file = firstTokenPath(config.dataDir);
  const firstToken = await ensureFirstToken({ db, given: config.bootstrapToken, file, now: clock() });
  const { auditDays, acme } = config;
  const ring = await openKeyring(db.query, config.keyringFile);
  const joined = stack.use(await joinControlPeers({ ...context, db, ring }));
  const { peers } = joined;
  const traffic = stack.use(openControlTraffic(config, db, peers, log));
  await announceInstallation(db, clock());
  const feed = stack.use(
    await startFeedServer({
      ...{ db, peers, socketPath: config.feedSocket, traffic: traffic.taker, ring, auditDays, clock, log },
      ...(config.fleetListen !== 'off' && { snapshots: snapshotPlace(config) }),
    }),
  );
  const states = stack.use(startEdgeStates({ db, clock, log }));
  stack.use(startTierAnnouncements({ db, clock, log }));
  stack.use(startBandwidthChecks({ db, clock, peers, log }));
  const { fleetListen } = config;
  if (fleetListen !== 'off') {
    const fleet = { config, listen: fleetListen, db, ring, clock, onRequest: feed.handle, registry, log };
    stack.use(await startFleetControl(fleet));
  }
  const engine: { running?: RunningSms } = {};
  const guard = { allow: config.smsWebhookAllow, refuse: ownAddresses };
  const origins = createGuard({ allow: config.originAllow, refuse: ownAddresses });
  const checks = { resolvers: config.checkResolvers, checkOrigin: await createCheckOrigin(config, db, origins, clock) };
  const given = {
    ...apiOptions(config, ring),
    settings: context.settings ?? [],
    readMetrics: createReadMetrics({ listen: config.metricsListen, clock: steadyClock, now: clock, log }),
    checks,
    asks: feed.asks,
    permitsOrigin: origins.permits,
    sms: hooksOf(engine, { peers, guard, log }),
    postToSink: stack.use(createWebhookSender({ ...guard, allow: ANYWHERE })).post,
    console: config.console === 'on' ? { files: await readConsoleFiles(CONSOLE_FOLDER) } : undefined,
  };
  const api = stack.use(await startApi({ ...given, db, peers, localSecret, clock, steadyClock, log, registry }));
  const sms = await startSms({ config, db, peers, ring, guard, log, registry });
  engine.running = sms;
  stack.use(startEvents({ config, db, peers, ring, guard, connectors: connectorsOf(sms, peers), log, registry }));
  if (acme === undefined) await warnOfStoppedRenewals(db, log);
  else stack.use(await startAcme({ acme, build, db, peers, ring, log, registry }));
  stack.use(watchStored({ db, log, registry }));
  addFeedMetrics(registry, feed);
  addFleetMetrics(registry, states);
  const running = stack.move();
  return {
    news: { firstToken },
    async stop(graceMs) {
      await joined.leave();
      await Promise.all([feed.endStreams(graceMs), api.close(), sms.stop(graceMs)]);
      await running[Symbol.asyncDispose]();
    },
  };
}

/** The connectors of all controls. */
function connectorsOf(sms: RunningSms, peers: Controls): ConnectorSources {
  return {
    isUp: (id) => sms.isUp(id) || peers.isUpElsewhere(id),
    reports: () => [...sms.reports(), ...peers.connectorsElsewhere.flatMap(({ reports }) => reports)],
  };
}

const CONSOLE_FOLDER = join(import.meta.dirname, '../../../console/dist');
const CONNECT_MS = 5_000;

async function createCheckOrigin(
  { originVerify: verify }: Config,
  db: Db,
  guard: Guard,
  clock: Clock,
): Promise<CheckOrigin> {
  const cdn = { id: cdnIdOf((await readFleet(db.query)).name) };
  const resolve = createResolver({ monotonic: steadyClock });
  const connect = createConnector({ guard, resolve, timeoutMs: CONNECT_MS, verify });
  return (spec) => {
    const compiled = compileSite(spec, 1);
    if (compiled.kind === 'invalid') throw new Error(compiled.problem); // what is stored compiles
    return checkOrigin(compiled.site, { connect, clock, cdn });
  };
}

/** Publishes what edges and name servers have to know of the installation, unless it is published already. */
async function announceInstallation(db: Db, now: number): Promise<void> {
  await announceFleetId(db, now);
  await db.transaction((trx) => publishServing(trx, now));
}

function snapshotPlace({ dataDir, fleetSnapshotRate }: Config) {
  return { directory: join(dataDir, 'feed', 'snapshots'), bytesPerSecond: fleetSnapshotRate * 125_000 };
}

/** Messages accepted before the engine runs are found when it starts. */
function hooksOf(
  engine: { readonly running?: RunningSms },
  { peers, guard, log }: Pick<SmsOptions, 'peers' | 'guard' | 'log'>,
): SmsHooks {
  return {
    refusedAddress: createRefusedAddress(guard),
    onAccepted: () => engine.running?.wake(),
    offer: (submissions) => engine.running?.offer(submissions) ?? false,
    connectors: () => {
      const own = { control: peers.id, reports: engine.running?.reports() ?? [] };
      return [own, ...peers.connectorsElsewhere].flatMap(({ control, reports }) =>
        reports.map((report) => ({ control, ...report })),
      );
    },
    post: async (post) => (await engine.running?.post(post)) ?? { kind: 'failed', reason: 'stopped' },
    onConnectorsChanged: async () => {
      // The change is stored, and the engine reads it at its next look.
      await engine.running?.reload().catch((error: unknown) => {
        log.error({ err: error }, 'cannot read SMS connectors');
      });
    },
  };
}

export function openConfigured(config: Config, log: Logger) {
  return openDatabase(databaseOptions(config, log));
}

/** Options of the interface, without the parts that it is joined to. */
export function apiOptions(config: Config, ring: Keyring) {
  const { tokenRatePerSecond, tokenRateBurst, failedTokensPerMinute } = config;
  const { purgeUrlsPerDay, purgeDirectoriesPerDay, prefetchUrlsPerDay } = config;
  return {
    listen: config.controlListen,
    tls: config.controlTls,
    trustedProxies: config.trustedProxies,
    limits: {
      tokenRatePerSecond,
      tokenRateBurst,
      failedTokensPerMinute,
      purgeUrlsPerDay,
      purgeDirectoriesPerDay,
      prefetchUrlsPerDay,
    },
    locale: config.locale,
    timeZone: config.timeZone,
    statSeconds: config.statSeconds,
    domainStatusAs: config.domainStatusAs,
    cnameSuffix: config.cnameSuffix,
    consoleUrl: config.consoleUrl,
    provider: providerOf(config),
    review: config.review,
    smsTimeWindowSeconds: config.smsTimeWindowSeconds,
    currency: config.smsCurrency,
    obtainsCertificates: config.acme !== undefined,
    fleetGraceMs: config.fleetRenewGraceDays * DAY_MS,
    hasOwnFleetAuthority: config.fleetFiles !== undefined,
    livePorts: livePortsOf(config),
    logs: { blobs: openBlobStore(config), ring, baseUrl: config.logUrl, hours: config.logUrlHours },
  };
}

function providerOf({ oidcIssuer, oidcClientId, oidcClientSecret, oidcGroups }: Config): ProviderSettings | undefined {
  if (oidcIssuer === undefined || oidcClientId === undefined) return undefined;
  return { issuer: oidcIssuer, clientId: oidcClientId, clientSecret: oidcClientSecret, groups: oidcGroups };
}

function livePortsOf({ edgeHttpListen, edgeHttpsListen, rtmpListen, rtmpsListen, livePorts }: Config): LivePorts {
  const own = {
    http: edgeHttpListen.port,
    https: portOf(edgeHttpsListen),
    rtmp: portOf(rtmpListen),
    rtmps: portOf(rtmpsListen),
  };
  return { ...own, ...Object.fromEntries(livePorts.map(({ scheme, port }) => [scheme, port])) };
}

function portOf(listen: ListenAddress | 'off'): number | undefined {
  return listen === 'off' ? undefined : listen.port;
}

function addFeedMetrics(
  registry: PartContext['registry'],
  feed: Pick<FeedServer, 'headRevision' | 'connectedEdges' | 'rejections' | 'liveCounts' | 'snapshots'>,
): void {
  const { gauge, gauges, total } = metricsOf(registry);
  const { snapshots } = feed;
  if (snapshots !== undefined) {
    total(
      'causeway_fleet_snapshots_total',
      'Snapshots that edges on other machines began to read since the start',
      () => snapshots.begun,
    );
    total(
      'causeway_fleet_snapshot_bytes_total',
      'Bytes of snapshots sent to edges on other machines since the start',
      () => snapshots.sentBytes,
    );
    gauge(
      'causeway_fleet_snapshot_transfers',
      'Snapshots that edges on other machines are reading',
      () => snapshots.running,
    );
  }
  gauge('causeway_feed_head_revision', 'Newest revision of the settings', () => feed.headRevision);
  gauge('causeway_feed_connected_edges', 'Edges that follow the feed', () => feed.connectedEdges);
  gauges(
    'causeway_feed_edge_rejected_resources',
    'Settings that an edge cannot apply, as of its last report, which holds at most 1000',
    ['edge'],
    () => feed.rejections().map(({ edge, rejected }) => [{ edge }, rejected]),
  );
  gauges('causeway_live_streams', 'Live streams on air, as of the last report of their live process', ['edge'], () =>
    feed.liveCounts().map(({ edge, streams }) => [{ edge }, streams]),
  );
  gauges(
    'causeway_live_viewers',
    'Viewers of live streams, as of the last report of their live process',
    ['edge'],
    () => feed.liveCounts().map(({ edge, viewers }) => [{ edge }, viewers]),
  );
}

function addFleetMetrics(registry: PartContext['registry'], states: EdgeStates): void {
  const { gauges } = metricsOf(registry);
  gauges(
    'causeway_fleet_edges',
    'Edges by state and group, as each control sees them: take the maximum over controls',
    ['state', 'group'],
    () => states.counts().map(({ state, group, count }) => [{ state, group }, count]),
  );
  gauges('causeway_fleet_edge_lag_revisions', 'Revisions of the settings that an edge is behind', ['edge'], () =>
    states.lags().map(({ edge, revisions }) => [{ edge }, revisions]),
  );
  gauges(
    'causeway_fleet_edge_lag_seconds',
    'Age of the oldest change of settings that an edge has not applied; 0: there is none',
    ['edge'],
    () => states.lags().map(({ edge, seconds }) => [{ edge }, seconds]),
  );
  gauges(
    'causeway_fleet_certificates_expire_seconds',
    'How long the certificate of an edge on another machine is still valid; negative: it has ended',
    ['edge'],
    () => states.certificates().map(({ edge, seconds }) => [{ edge }, seconds]),
  );
}
