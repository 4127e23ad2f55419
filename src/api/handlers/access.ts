/** The access rules: referer, User-Agent, IP. Omitted fields keep their stored value. docs/decisions/0102 */
import { OPERATIONS } from '#contract/operations.ts';
import type { RouteName } from '#contract/routes.ts';
import type { DenyList } from '#model/domain.ts';
import { changeSettings } from '../settings/change.ts';
import type { Handler } from './handler.ts';
import { readOwnDomain } from './own-domain.ts';
import { refuseMissing } from './refuse-missing.ts';

type AccessRoute = Extract<RouteName, `config.${'set' | 'get'}${'Referer' | Capitalize<DenyList>}`>;

export const ACCESS_HANDLERS = {
  'config.setReferer': async (call, { domainId, mode, allowsBlank, entries }) => {
    await changeSettings(call, domainId, ({ settings }) => {
      const { referer } = settings;
      if (mode !== 'off' && referer.entries.length === 0) {
        if (allowsBlank === undefined) refuseMissing(OPERATIONS['config.setReferer'].request.fields, 'referer_blank');
        if (entries === undefined) refuseMissing(OPERATIONS['config.setReferer'].request.fields, 'referer_str');
      }
      const chosen = { mode, allowsBlank: allowsBlank ?? referer.allowsBlank, entries: entries ?? referer.entries };
      return { ...settings, referer: chosen };
    });
  },

  'config.setUserAgent': async (call, chosen) => {
    await changeDenyList(call, 'userAgent', chosen, () =>
      refuseMissing(OPERATIONS['config.setUserAgent'].request.fields, 'ua_str'),
    );
  },

  'config.setIp': async (call, chosen) => {
    await changeDenyList(call, 'ip', chosen, () => refuseMissing(OPERATIONS['config.setIp'].request.fields, 'ip_str'));
  },

  'config.getReferer': async (call, { domainId }) => await readOwnDomain(call, domainId),

  'config.getUserAgent': async (call, { domainId }) => await readOwnDomain(call, domainId),

  'config.getIp': async (call, { domainId }) => await readOwnDomain(call, domainId),
} satisfies { readonly [N in AccessRoute]: Handler<N> };

interface Chosen {
  readonly domainId: number;
  readonly isOn: boolean;
  readonly entries: readonly string[] | undefined;
}

/** `refuse` throws: a list that is on has entries. */
async function changeDenyList(
  call: Parameters<typeof changeSettings>[0],
  list: DenyList,
  { domainId, isOn, entries }: Chosen,
  refuse: () => never,
): Promise<void> {
  await changeSettings(call, domainId, ({ settings }) => {
    const chosen = { isOn, entries: entries ?? settings[list].entries };
    if (isOn && chosen.entries.length === 0) refuse();
    return { ...settings, [list]: chosen };
  });
}
