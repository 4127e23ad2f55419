/** `event.watch`: the watcher, and the kinds of hints that it is sent. The stream itself is `http/watch-route.ts`. docs/decisions/0671 */
import type { RouteName } from '#contract/routes.ts';
import { findAccount } from '#db/tables/accounts.ts';
import type { WatchView } from '../wire/wire-watch.ts';
import type { Handler } from './handler.ts';

export const WATCH_HANDLERS = {
  'event.watch': async ({ db, by, actor, accountId, domainIds }, asked): Promise<WatchView> => {
    // The command line of this machine has no account.
    const isOperator = actor === 'token:0' || (await findAccount(db.query, accountId))?.kind === 'operator';
    const kinds = asked.kinds.filter((kind) => kind !== 'message' || by.scopes.includes('sms'));
    return { ...asked, kinds, name: actor, accountId: isOperator ? undefined : accountId, domainIds };
  },
} satisfies { readonly [N in Extract<RouteName, 'event.watch'>]: Handler<N> };
