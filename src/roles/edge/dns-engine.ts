/** What answers for a name server: the embedded answerer, or Knot DNS. */
import type { Registry } from 'prom-client';
import { type AnswerCounts, startAnswerer } from '#dns/answerer.ts';
import type { Knot } from '#dns/knot/engine.ts';
import type { NameServer } from '#dns/name-server.ts';
import { RCODES } from '#dns/packet.ts';
import { systemClock } from '#lib/clock.ts';
import { metricsOf } from '#lib/metrics.ts';
import type { PartContext } from '../process/child.ts';
import { ownAddressesOf } from './edge-place.ts';

interface DnsEngine extends AsyncDisposable {
  /** Describes the engine for `causeway dns status`. */
  describe(): { readonly engine: string; readonly problem?: string };
  addMetrics(registry: Registry): void;
}

export async function startEngine(context: PartContext, server: NameServer): Promise<DnsEngine> {
  const { config, log } = context;
  const { dnsListen: listen, dnsKnotDirectory: directory } = config;
  if (config.dnsEngine === 'embedded' || directory === undefined) {
    const monotonic = () => performance.now();
    const answerer = await startAnswerer({ listen, view: () => server.view, clock: systemClock, monotonic, log });
    return {
      describe: () => ({ engine: 'embedded' }),
      addMetrics: (registry) => addAnswerMetrics(registry, answerer.counts),
      [Symbol.asyncDispose]: () => answerer[Symbol.asyncDispose](),
    };
  }
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

const CODE_NAMES: ReadonlyMap<number, string> = new Map([
  [RCODES.noError, 'NOERROR'],
  [RCODES.formatError, 'FORMERR'],
  [RCODES.serverFailure, 'SERVFAIL'],
  [RCODES.nameError, 'NXDOMAIN'],
  [RCODES.notImplemented, 'NOTIMP'],
  [RCODES.refused, 'REFUSED'],
  [RCODES.badVersion, 'BADVERS'],
]);

function addAnswerMetrics(registry: Registry, counts: AnswerCounts): void {
  const { total, totals } = metricsOf(registry);
  totals('causeway_dns_responses_total', 'Responses of the name server, by their code', ['code'], () =>
    [...counts.byCode].map(([code, count]) => [{ code: CODE_NAMES.get(code) ?? String(code) }, count]),
  );
  total(
    'causeway_dns_limited_total',
    'Queries over UDP beyond the rate of one address, which were dropped or asked to come over TCP',
    () => counts.limited,
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
