/** What answers for a name server: the embedded answerer, or Knot DNS. */
import type { Registry } from 'prom-client';
import { type AnswerCounts, type Answerer, startAnswerer } from '#dns/answerer.ts';
import type { Knot } from '#dns/knot/engine.ts';
import type { NameServer } from '#dns/name-server.ts';
import { RCODES } from '#dns/packet.ts';
import { systemClock } from '#lib/clock.ts';
import { formatListenAddress } from '#lib/listen-address.ts';
import { metricsOf } from '#lib/metrics.ts';
import { startRounds } from '#lib/rounds.ts';
import type { PartContext } from '../process/child.ts';
import { ownAddressesOf } from './edge-place.ts';

interface DnsEngine extends AsyncDisposable {
  /** Describes the engine for `causeway dns status`. */
  describe(): { readonly engine: string; readonly problem?: string };
  addMetrics(registry: Registry): void;
}

/** Pause between two tries to listen. */
const LISTEN_AGAIN_MS = 5000;

export async function startEngine(
  context: Pick<PartContext, 'config' | 'log'>,
  server: NameServer,
): Promise<DnsEngine> {
  const { config, log } = context;
  const { dnsListen: listen, dnsKnotDirectory: directory } = config;
  if (config.dnsEngine === 'embedded' || directory === undefined) return await startEmbedded(context, server);
  const { networksOf } = await import('#dns/knot/networks.ts'); // only where Knot answers, as the next one
  const { startKnot } = await import('#dns/knot/engine.ts');
  const networks = networksOf(config.dnsNetworks);
  const knot = startKnot({
    ...{ directory, listen, log },
    socket: config.dnsKnotSocket,
    template: config.dnsKnotTemplate,
    zones: config.dnsZones,
    ttl: config.dnsTtl,
    ownAddresses: () => ownAddressesOf(config),
    source: {
      names: () => server.names(),
      labelOf: (name) => server.labelOf(name),
      takeChanged: () => server.takeChanged(),
      answers: () => server.answersFor(networks),
    },
  });
  return {
    describe: () => ({ engine: 'knot', ...(knot.problem !== undefined && { problem: knot.problem }) }),
    addMetrics: (registry) => addKnotMetrics(registry, knot),
    [Symbol.asyncDispose]: () => knot[Symbol.asyncDispose](),
  };
}

/** Tries again where it cannot listen: its process follows the feed, which viewers need more than names. */
async function startEmbedded(
  { config, log }: Pick<PartContext, 'config' | 'log'>,
  server: NameServer,
): Promise<DnsEngine> {
  const { dnsListen: listen } = config;
  let answerer: Answerer | undefined;
  let problem: string | undefined;
  const tryToListen = async () => {
    if (answerer !== undefined) return;
    const monotonic = () => performance.now();
    answerer = await startAnswerer({ listen, view: () => server.view, clock: systemClock, monotonic, log });
    if (problem !== undefined) log.info({ listen }, 'the name server listens');
    problem = undefined;
  };
  const onFailure = (error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    const next = `cannot listen on ${formatListenAddress(listen)}: ${why}`;
    if (next !== problem) log.error({ err: error, listen }, 'the name server cannot listen; trying again');
    problem = next;
  };
  await tryToListen().catch(onFailure);
  const rounds = startRounds({ everyMs: LISTEN_AGAIN_MS, isDelayed: true, work: tryToListen, onFailure });
  return {
    describe: () => ({ engine: 'embedded', ...(problem !== undefined && { problem }) }),
    addMetrics: (registry) => addAnswerMetrics(registry, () => answerer?.counts ?? NOTHING_COUNTED),
    async [Symbol.asyncDispose]() {
      await rounds[Symbol.asyncDispose]();
      await answerer?.[Symbol.asyncDispose]();
    },
  };
}

const NOTHING_COUNTED: AnswerCounts = { byCode: new Map(), limited: 0 };

const CODE_NAMES: ReadonlyMap<number, string> = new Map([
  [RCODES.noError, 'NOERROR'],
  [RCODES.formatError, 'FORMERR'],
  [RCODES.serverFailure, 'SERVFAIL'],
  [RCODES.nameError, 'NXDOMAIN'],
  [RCODES.notImplemented, 'NOTIMP'],
  [RCODES.refused, 'REFUSED'],
  [RCODES.badVersion, 'BADVERS'],
]);

function addAnswerMetrics(registry: Registry, counts: () => AnswerCounts): void {
  const { total, totals } = metricsOf(registry);
  totals('causeway_dns_responses_total', 'Responses of the name server, by their code', ['code'], () =>
    [...counts().byCode].map(([code, count]) => [{ code: CODE_NAMES.get(code) ?? String(code) }, count]),
  );
  total(
    'causeway_dns_limited_total',
    'Queries over UDP beyond the rate of one address, which were dropped or asked to come over TCP',
    () => counts().limited,
  );
}

function addKnotMetrics(registry: Registry, knot: Knot): void {
  const { gauge, total } = metricsOf(registry);
  total('causeway_dns_applied_total', 'Changes that the engine of the name server has taken', () => knot.applied);
  total('causeway_dns_apply_failures_total', 'Changes that it has not taken', () => knot.failed);
  gauge('causeway_dns_apply_failing', '1 while the last change is not taken, else 0', () =>
    knot.problem === undefined ? 0 : 1,
  );
}
