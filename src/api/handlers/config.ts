/** The `/config/*` operations: a domain's settings. */
import { OPERATIONS } from '#contract/operations.ts';
import type { RouteName } from '#contract/routes.ts';
import { REDIRECT_TARGET } from '#contract/rule-operations.ts';
import { findRedirectLoop } from '#sites/redirects.ts';
import { changeSettings } from '../settings/change.ts';
import { refuseEntry } from '../wire/wire-rules.ts';
import { ACCESS_HANDLERS } from './access.ts';
import { ADDRESS_LIST_HANDLERS } from './address-lists.ts';
import { CERTIFICATE_REQUEST_HANDLERS } from './certificate-requests.ts';
import { CERTIFICATE_HANDLERS } from './certificates.ts';
import type { Handler } from './handler.ts';
import { readOwnDomain } from './own-domain.ts';
import { refuseMissing } from './refuse-missing.ts';
import { SIGNING_HANDLERS } from './signing.ts';

const LOOP = 'is redirected back to where it came from';

export const CONFIG_HANDLERS = {
  ...ACCESS_HANDLERS,
  ...ADDRESS_LIST_HANDLERS,
  ...CERTIFICATE_HANDLERS,
  ...SIGNING_HANDLERS,
  ...CERTIFICATE_REQUEST_HANDLERS,

  'config.setPolicies': async (call, { domainId, caching }) => {
    await changeSettings(call, domainId, ({ settings }) => ({ ...settings, caching }));
  },

  'config.getPolicies': async (call, { domainId }) => await readOwnDomain(call, domainId),

  'config.getAdvanced': async (call, { domainId }) => await readOwnDomain(call, domainId),

  'config.setAdvanced': async (call, { domainId, plain, ...chosen }) => {
    await changeSettings(call, domainId, ({ settings }) => {
      const html403 = chosen.html403 ?? settings.html403;
      // docs/decisions/0100
      if (chosen.forbidHttpCode === '403' && html403 === '')
        refuseMissing(OPERATIONS['config.setAdvanced'].request.fields, 'html_403');
      return {
        ...settings,
        ...plain,
        ...chosen,
        forbidRedirectUrl: chosen.forbidRedirectUrl ?? settings.forbidRedirectUrl,
        html403,
      };
    });
  },

  'config.setCacheOptions': async (call, { domainId, chosen }) => {
    await changeSettings(call, domainId, ({ settings }) => ({
      ...settings,
      cache: { ...settings.cache, ...chosen },
    }));
  },

  'config.getCacheOptions': async (call, { domainId }) => await readOwnDomain(call, domainId),

  'config.setRateLimits': async (call, { domainId, ...rules }) => {
    await changeSettings(call, domainId, ({ settings }) => ({ ...settings, ...rules }));
  },

  'config.setRedirects': async (call, { domainId, redirects }) => {
    await changeSettings(call, domainId, ({ name, settings }) => {
      const loop = findRedirectLoop(redirects, name);
      if (loop !== undefined)
        refuseEntry(`redirects[${loop}][target]`, REDIRECT_TARGET, redirects[loop]?.target ?? '', LOOP);
      return { ...settings, redirects };
    });
  },

  'config.getRedirects': async (call, { domainId }) => await readOwnDomain(call, domainId),

  'config.setResponseHeaders': async (call, { domainId, ...rules }) => {
    await changeSettings(call, domainId, ({ settings }) => ({ ...settings, ...rules }));
  },

  'config.getResponseHeaders': async (call, { domainId }) => await readOwnDomain(call, domainId),

  'config.getRateLimits': async (call, { domainId }) => await readOwnDomain(call, domainId),
} satisfies {
  readonly [N in RouteName as N extends `config.${string}` | `certificate.${string}` | `addressList.${string}`
    ? N
    : never]: Handler<N>;
};
