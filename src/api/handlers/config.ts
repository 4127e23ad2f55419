/** The `/config/*` operations: a domain's settings. */
import { ServiceError } from '#contract/errors.ts';
import type { RouteName } from '#contract/routes.ts';
import { findDomain } from '#db/domains.ts';
import { changeSettings } from '../change.ts';
import type { Handler } from './handler.ts';

export const CONFIG_HANDLERS = {
  'config.setCacheOptions': async (call, { domainId, chosen }) => {
    await changeSettings(call, domainId, ({ settings }) => ({
      ...settings,
      cache: {
        setCookie: chosen.setCookie ?? settings.cache.setCookie,
        requestDirectives: chosen.requestDirectives ?? settings.cache.requestDirectives,
        heuristicCapSeconds: chosen.heuristicCapSeconds ?? settings.cache.heuristicCapSeconds,
        staleCapSeconds: chosen.staleCapSeconds ?? settings.cache.staleCapSeconds,
        normalizeVary: chosen.normalizeVary ?? settings.cache.normalizeVary,
        matchLanguage: chosen.matchLanguage ?? settings.cache.matchLanguage,
      },
    }));
  },

  'config.getCacheOptions': async ({ db, accountId }, { domainId }) => {
    const domain = await findDomain(db.query, { accountId, id: domainId });
    if (domain === undefined) throw new ServiceError('domainNotFound', { domainId });
    return domain.settings.cache;
  },
} satisfies { readonly [N in RouteName as N extends `config.${string}` ? N : never]: Handler<N> };
