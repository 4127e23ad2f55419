/** What operators see and do of live streams. docs/decisions/0500, 0501 */

import { ServiceError } from '#contract/errors/service-error.ts';
import type { RouteName } from '#contract/routes.ts';
import { findDomain } from '#db/tables/domains.ts';
import { listBroadcasts } from '#db/tables/live/history.ts';
import { readLiveKeys, type StoredLiveKeys } from '#db/tables/live/keys.ts';
import { forbidStream, kickStream, pageStreams, resumeStream } from '#db/tables/live/streams.ts';
import { type AskedDomain, changeKeys, changeMark, refuseNotLive, rotate } from '../settings/live-changes.ts';
import { timeRange } from '../wire/time-range.ts';
import type { Call, Handler } from './handler.ts';
import { HISTORY_DEFAULT_MS } from './live.ts';

export const LIVE_OPERATOR_HANDLERS = {
  'liveOperator.list': async ({ db, now }, filter) => ({
    ...(await pageStreams(db.query, { ...filter, now })),
    now,
  }),

  'liveOperator.forbid': async ({ db, now }, { resumeAt, ...asked }) => {
    if (resumeAt !== undefined && resumeAt <= now)
      throw new ServiceError('resumePast', { given: resumeAt / 1000, moment: new Date(resumeAt).toISOString() });
    await changeMark(db, ofAnyone(asked), now, (trx) => forbidStream(trx, asked, resumeAt ?? 0, now));
  },

  'liveOperator.resume': async ({ db, now }, asked) => {
    await changeMark(db, ofAnyone(asked), now, (trx) => resumeStream(trx, asked, now));
  },

  'liveOperator.kick': async ({ db, now }, asked) => {
    await changeMark(db, ofAnyone(asked), now, (trx) => kickStream(trx, asked));
  },

  'liveOperator.history': async (call, { accountId, domainId, from, to, ...filter }) => {
    await refuseUnknown(call, { accountId, domainId });
    const range = timeRange({ from, to }, call.now, HISTORY_DEFAULT_MS);
    return await listBroadcasts(call.db.query, { domainId, ...filter, ...range });
  },

  'liveOperator.getKeys': async (call, asked) => {
    await refuseUnknown(call, asked);
    return await readLiveKeys(call.db.query, call.keyring, asked.domainId);
  },

  'liveOperator.setKeys': async ({ db, keyring, now }, { kind, action, key, ...asked }) => {
    if (key !== undefined && action !== 'rotate') throw new ServiceError('liveKeyUnused');
    return await changeKeys(db, keyring, { ...ofAnyone(asked), now }, (keys): StoredLiveKeys => {
      switch (action) {
        case 'rotate':
          return { ...keys, [kind]: rotate(keys[kind], key) };
        case 'drop_secondary':
          return { ...keys, [kind]: keys[kind].slice(0, 1) };
        case 'clear':
          return { ...keys, [kind]: [] };
      }
    });
  },
} satisfies { readonly [N in RouteName as N extends `liveOperator.${string}` ? N : never]: Handler<N> };

/** Operators reach every domain of an account. */
function ofAnyone<A extends object>(asked: A) {
  return { ...asked, domainIds: undefined };
}

async function refuseUnknown({ db }: Call, { accountId, domainId }: Omit<AskedDomain, 'domainIds'>): Promise<void> {
  const domain = await findDomain(db.query, { accountId, domainIds: undefined, id: domainId });
  if (domain === undefined) throw new ServiceError('domainNotFound', { domainId });
  refuseNotLive(domain);
}
