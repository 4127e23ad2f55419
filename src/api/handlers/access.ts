/** The access rules: the Referer rule, and lists of what is refused. Omitted fields keep their stored value. docs/decisions/0102 */
import { byOperation, WIRE_DENY_LISTS } from '#contract/deny-lists.ts';
import type { Field } from '#contract/fields.ts';
import { OPERATIONS } from '#contract/operations.ts';
import { type DenyList, type Domain, eachDenyList } from '#model/domain.ts';
import { changeSettings } from '../settings/change.ts';
import type { AccessRoute } from '../wire/wire-access.ts';
import type { Call, Handler } from './handler.ts';
import { readOwnDomain } from './own-domain.ts';
import { refuseMissing } from './refuse-missing.ts';

const LISTS = eachDenyList((list) => ({
  change: (call: Call, chosen: Chosen) => changeDenyList(call, list, chosen),
  show: readRules,
}));

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
  'config.getReferer': readRules,
  ...byOperation('set', LISTS, 'change'),
  ...byOperation('get', LISTS, 'show'),
} satisfies { readonly [N in AccessRoute]: Handler<N> };

async function readRules(call: Call, { domainId }: { readonly domainId: number }): Promise<Domain> {
  return await readOwnDomain(call, domainId);
}

interface Chosen {
  readonly domainId: number;
  readonly isOn: boolean;
  readonly entries: readonly string[] | undefined;
}

/** A list that is on has entries. */
async function changeDenyList(call: Call, list: DenyList, { domainId, isOn, entries }: Chosen): Promise<undefined> {
  const row: { readonly list: string; readonly entries: Field } = WIRE_DENY_LISTS[list];
  await changeSettings(call, domainId, ({ settings }) => {
    const chosen = { isOn, entries: entries ?? settings[list].entries };
    if (isOn && chosen.entries.length === 0) refuseMissing({ [row.list]: row.entries }, row.list);
    return { ...settings, [list]: chosen };
  });
}
