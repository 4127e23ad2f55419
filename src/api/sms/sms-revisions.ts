/**
 * Revisions of connectors and routes: fingerprints of what is stored, so that of two operators who change one at once
 * the second hears of it. docs/decisions/0469
 */
import { createHash } from 'node:crypto';
import { ServiceError } from '#contract/errors/service-error.ts';
import type { Localized } from '#contract/schema/locale.ts';
import type { StoredConnector, StoredRoute } from '#db/tables/sms/connectors.ts';

/** A safe integer in JSON of any language. */
const REVISION_BYTES = 6;
/** The revision of what does not exist. */
const NONE = 0;

/** The revision differs after every change, including one of the password alone. */
export function connectorRevision(connector: StoredConnector | undefined): number {
  if (connector === undefined) return NONE;
  const { id, enabled, partsPerSecond, settings, secret, changedAt } = connector;
  // What is sealed differs each time.
  return fingerprint([id, enabled, partsPerSecond ?? 0, settings, secret ?? '', changedAt]);
}

export function routeRevision(route: StoredRoute | undefined): number {
  return route === undefined ? NONE : fingerprint([route.prefix, route.connectorIds]);
}

/** Throws `smsRevisionChanged` unless `given` is the revision; `undefined`: the caller has no condition. */
export function refuseOtherRevision(what: Localized, revision: number, given: number | undefined): void {
  if (given !== undefined && given !== revision)
    throw new ServiceError('smsRevisionChanged', { what, revision, given });
}

function fingerprint(content: unknown): number {
  const hash = createHash('sha256').update(JSON.stringify(content)).digest();
  return Math.max(1, hash.readUIntBE(0, REVISION_BYTES));
}
