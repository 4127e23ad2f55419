/** The refusal of a change whose caller has read other settings than are there now: it tells those. docs/decisions/0446 */
import type { RouteName } from '#contract/routes.ts';
import { ServiceError } from '#contract/service-error.ts';
import type { Domain } from '#model/domain.ts';
import type { StaleRevision } from './change.ts';
import { writeIp, writeReferer, writeUserAgent } from './wire-access.ts';
import { writeAdvanced } from './wire-advanced.ts';
import { writeCacheOptions } from './wire-cache.ts';
import { writeSsl } from './wire-certificate.ts';
import { type Look, writeDomain } from './wire-domain.ts';
import { writePolicies } from './wire-policy.ts';
import { WRITE_RECORDINGS } from './wire-recordings.ts';

/** Longest text of the current settings in an answer's `info`; a domain may have a hundred policies. */
const MAX_CURRENT_CHARS = 4096;

/** `name`: the operation that was refused. */
export function refuseStale(name: RouteName, { domain, given }: StaleRevision, look: Look): ServiceError {
  const text = JSON.stringify(currentOf(name, domain, look));
  const current = text.length > MAX_CURRENT_CHARS ? `${text.slice(0, MAX_CURRENT_CHARS).toWellFormed()}…` : text;
  return new ServiceError('revisionChanged', { domainId: domain.id, given, revision: domain.settingRevision, current });
}

/** What the operation would have changed, as the one that reads it answers. */
function currentOf(name: RouteName, domain: Domain, look: Look): unknown {
  const { settings } = domain;
  switch (name) {
    case 'config.setPolicies':
      return writePolicies(settings.caching);
    case 'config.setAdvanced':
      return writeAdvanced(settings);
    case 'config.setReferer':
      return writeReferer(settings.referer);
    case 'config.setUserAgent':
      return writeUserAgent(settings.userAgent);
    case 'config.setIp':
      return writeIp(settings.ip);
    case 'config.setCacheOptions':
      return writeCacheOptions(settings.cache);
    case 'config.setSsl':
    case 'config.requestCertificate':
      return writeSsl(settings);
    case 'live.setRecording': {
      const { record, keep_days } = WRITE_RECORDINGS['live.getRecording'](domain);
      return { record, keep_days };
    }
    default: {
      const { origin, backup, source_type, sourcehost, remark } = writeDomain({ domain, isInForce: true }, look);
      return { origin, backup, source_type, sourcehost, remark, state: domain.state };
    }
  }
}
