/** The `/config/*` operations: a domain's settings. */
import type { RouteName } from '#contract/routes.ts';
import { ACCESS_HANDLERS } from './access.ts';
import { ADDRESS_LIST_HANDLERS } from './address-lists.ts';
import { CERTIFICATE_REQUEST_HANDLERS } from './certificate-requests.ts';
import { CERTIFICATE_HANDLERS } from './certificates.ts';
import { changesTopic } from './changes-topic.ts';
import type { Handler } from './handler.ts';
import { readOwnDomain } from './own-domain.ts';
import { SIGNING_HANDLERS } from './signing.ts';

export const CONFIG_HANDLERS = {
  ...ACCESS_HANDLERS,
  ...ADDRESS_LIST_HANDLERS,
  ...CERTIFICATE_HANDLERS,
  ...SIGNING_HANDLERS,
  ...CERTIFICATE_REQUEST_HANDLERS,

  'config.setPolicies': changesTopic('policies'),
  'config.getPolicies': async (call, { domainId }) => await readOwnDomain(call, domainId),
  'config.setAdvanced': changesTopic('advanced'),
  'config.getAdvanced': async (call, { domainId }) => await readOwnDomain(call, domainId),
  'config.setCacheOptions': changesTopic('cache'),
  'config.getCacheOptions': async (call, { domainId }) => await readOwnDomain(call, domainId),
  'config.setRateLimits': changesTopic('rate_limits'),
  'config.getRateLimits': async (call, { domainId }) => await readOwnDomain(call, domainId),
  'config.setRedirects': changesTopic('redirects'),
  'config.getRedirects': async (call, { domainId }) => await readOwnDomain(call, domainId),
  'config.setResponseHeaders': changesTopic('headers'),
  'config.getResponseHeaders': async (call, { domainId }) => await readOwnDomain(call, domainId),
} satisfies {
  readonly [N in Exclude<ConfigRoute, 'certificate.get' | 'certificate.replace'>]: Handler<N>;
};

type ConfigRoute = Extract<RouteName, `config.${string}` | `certificate.${string}` | `addressList.${string}`>;
