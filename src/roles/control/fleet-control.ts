/** Control's listener for edges on other machines, with its metrics. */
import type { Registry } from 'prom-client';
import type { Config } from '#config';
import type { Db } from '#db/open.ts';
import type { Keyring } from '#db/secrets/keyring.ts';
import { announceControls } from '#fleet/announcements.ts';
import { type FleetListener, type FleetListenerOptions, startFleetListener } from '#fleet/listener.ts';
import { steadyClock } from '#lib/clock.ts';
import { DAY_MS } from '#lib/durations.ts';
import type { ListenAddress } from '#lib/listen-address.ts';
import type { Logger } from '#lib/logger.ts';
import { metricsOf } from '#lib/metrics.ts';

export interface FleetControlOptions extends Pick<FleetListenerOptions, 'onRequest' | 'clock'> {
  readonly config: Config;
  readonly listen: ListenAddress;
  readonly db: Db;
  readonly ring: Keyring;
  readonly registry: Registry;
  readonly log: Logger;
}

export async function startFleetControl(options: FleetControlOptions): Promise<FleetListener> {
  const { config, listen, db, ring, clock, onRequest, registry, log } = options;
  await announceControls(db, config.fleetAddress, clock());
  const listener = await startFleetListener({
    db,
    ring,
    listen,
    own: config.fleetFiles,
    proxyProtocol: config.fleetProxyProtocol,
    trustedProxies: config.trustedProxies,
    graceMs: config.fleetRenewGraceDays * DAY_MS,
    controls: config.fleetAddress,
    onRequest,
    clock,
    steadyClock,
    log,
  });
  const { gauge, total, totals } = metricsOf(registry);
  gauge('causeway_fleet_connections', 'Open connections of edges on other machines', () => listener.connections);
  total(
    'causeway_fleet_clones_total',
    'Edges of which two copies were noticed since the start',
    () => listener.counts.clones,
  );
  totals(
    'causeway_fleet_bad_messages_total',
    'Requests of edges on other machines that were refused as malformed, since the start',
    ['edge'],
    () => [...listener.counts.badMessages].map(([edge, count]) => [{ edge }, count]),
  );
  return listener;
}
