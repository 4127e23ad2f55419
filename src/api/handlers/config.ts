/** The `/config/*` operations: a domain's settings. */
import { OPERATIONS } from '#contract/operations.ts';
import type { RouteName } from '#contract/routes.ts';
import { changeSettings } from '../settings/change.ts';
import { ACCESS_HANDLERS } from './access.ts';
import { CERTIFICATE_REQUEST_HANDLERS } from './certificate-requests.ts';
import { CERTIFICATE_HANDLERS } from './certificates.ts';
import type { Handler } from './handler.ts';
import { readOwnDomain } from './own-domain.ts';
import { refuseMissing } from './refuse-missing.ts';

export const CONFIG_HANDLERS = {
  ...ACCESS_HANDLERS,
  ...CERTIFICATE_HANDLERS,
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
} satisfies {
  readonly [N in RouteName as N extends `config.${string}` | `certificate.${string}` ? N : never]: Handler<N>;
};
