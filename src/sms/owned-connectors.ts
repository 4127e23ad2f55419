/**
 * Which connectors this control opens where several controls share the database, and its part of their limits. A lease
 * stands for one session with a carrier. Pure. docs/decisions/0578
 */
import type { StoredConnector } from '#db/tables/sms/connectors.ts';
import type { WantedLease } from '#model/lease.ts';

/** Leases of the sessions of all connectors that are in use; a loopback connector has no session. */
export function sessionLeases(connectors: readonly StoredConnector[]): readonly WantedLease[] {
  return connectors.flatMap((connector) =>
    connector.enabled && connector.settings.kind !== 'loopback'
      ? [{ name: sessionLease(connector.id), holders: sessionsOf(connector) }]
      : [],
  );
}

/** Returns the connectors that this control opens, with its part of their window and rate. */
export function ownedConnectors(
  connectors: readonly StoredConnector[],
  holds: (lease: string) => boolean,
): readonly StoredConnector[] {
  return connectors.flatMap((connector) => {
    const { settings, partsPerSecond } = connector;
    if (!holdsSession(connector, holds)) return [];
    const sessions = sessionsOf(connector);
    if (sessions === 1) return [connector];
    return [
      {
        ...connector,
        settings: shareOf(settings, sessions),
        partsPerSecond: partsPerSecond && partsPerSecond / sessions,
      },
    ];
  });
}

/** A gateway agrees on the window of each connection; with SMPP all sessions share it. */
function shareOf(settings: StoredConnector['settings'], sessions: number): StoredConnector['settings'] {
  return settings.kind === 'smpp' ? { ...settings, window: Math.floor(settings.window / sessions) } : settings;
}

/** Whether this control may send by the connector. */
export function holdsSession({ id, settings }: StoredConnector, holds: (lease: string) => boolean): boolean {
  return settings.kind === 'loopback' || holds(sessionLease(id));
}

function sessionLease(connectorId: number): string {
  return `connector:${connectorId}`;
}

/** Sessions of SMPP share the window, and each may have at least one part in flight. */
function sessionsOf({ settings }: StoredConnector): number {
  if (settings.kind === 'loopback') return 1;
  return settings.kind === 'smpp' ? Math.min(settings.sessions, settings.window) : settings.sessions;
}
