/** Signed URLs of a domain, and their keys. docs/decisions/0637 */
import { OPERATIONS } from '#contract/operations.ts';
import type { RouteName } from '#contract/routes.ts';
import { readLiveKeys, saveLiveKeys } from '#db/tables/live/keys.ts';
import type { Change } from '#db/tables/resources.ts';
import { changeSettings } from '../settings/change.ts';
import type { Handler } from './handler.ts';
import { readOwnDomain } from './own-domain.ts';
import { refuseMissing } from './refuse-missing.ts';

export const SIGNING_HANDLERS = {
  'config.setUrlSigning': async (call, { domainId, isOn, validSeconds, paths, primaryKey, secondaryKey }) => {
    const { keyring, now } = call;
    let saveKeys: ((trx: Parameters<typeof saveLiveKeys>[0]) => Promise<Change>) | undefined;
    await changeSettings(
      call,
      domainId,
      async ({ settings }, trx) => {
        const { signing } = settings;
        const before = await readLiveKeys(trx, keyring, domainId);
        const [primary = '', secondary = ''] = before.urls ?? [];
        const urls = withoutEmpty([primaryKey ?? primary, secondaryKey ?? secondary]);
        if (isOn && urls.length === 0) refuseMissing(OPERATIONS['config.setUrlSigning'].request.fields, 'primary_key');
        const isChanged = urls.join() !== withoutEmpty([primary, secondary]).join();
        saveKeys = isChanged
          ? (own) => saveLiveKeys(own, keyring, { domainId, keys: { ...before, urls }, now })
          : undefined;
        return {
          ...settings,
          signing: { isOn, validSeconds: validSeconds ?? signing.validSeconds, paths: paths ?? signing.paths },
        };
      },
      async (trx) => (saveKeys === undefined ? [] : [await saveKeys(trx)]),
    );
  },

  'config.getUrlSigning': async (call, { domainId }) => {
    const domain = await readOwnDomain(call, domainId);
    return { ...domain, urlKeys: (await readLiveKeys(call.db.query, call.keyring, domainId)).urls ?? [] };
  },
} satisfies { readonly [N in RouteName as N extends `config.${string}UrlSigning` ? N : never]: Handler<N> };

function withoutEmpty(keys: readonly string[]): readonly string[] {
  return [...new Set(keys)].filter((key) => key !== '');
}
