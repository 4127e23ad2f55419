/** Signed URLs of a domain, and their keys. docs/decisions/0637 */
import type { RouteName } from '#contract/routes.ts';
import { readLiveKeys } from '#db/tables/live/keys.ts';
import { changeTopic } from '../settings/change-topics.ts';
import { saveUrlKeys } from '../settings/url-keys.ts';
import type { Handler } from './handler.ts';
import { readOwnDomain } from './own-domain.ts';

export const SIGNING_HANDLERS = {
  'config.setUrlSigning': async (call, input) => {
    await changeTopic(call, input.domainId, 'signing', input, (trx, domain) => saveUrlKeys(trx, call, input, domain));
  },

  'config.getUrlSigning': async (call, { domainId }) => {
    const domain = await readOwnDomain(call, domainId);
    return { ...domain, urlKeys: (await readLiveKeys(call.db.query, call.keyring, domainId)).urls ?? [] };
  },
} satisfies { readonly [N in RouteName as N extends `config.${string}UrlSigning` ? N : never]: Handler<N> };
