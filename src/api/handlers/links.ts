/** Links that are good once: their secret stands behind `#`, which browsers send to nobody. docs/decisions/0665 */
import type { Transaction } from 'kysely';
import type { Schema } from '#db/schema/schema.ts';
import { addInvitation, type Invitation, withdrawSame } from '#db/tables/people/invitations.ts';
import { hashToken, mintToken } from '#lib/token.ts';
import type { Call } from './handler.ts';

const HOUR_MS = 3_600_000;
const INVITATION_MS = 72 * HOUR_MS;
const RESET_MS = HOUR_MS;
const PAGE = '/console/welcome';

type Asked = Pick<Invitation, 'email' | 'membership' | 'personId'> & { readonly clearsFactors?: boolean };

/** The one for the same address and the same account that was there before ends. `isFirst`: a new person has time. */
export async function makeLink(
  trx: Transaction<Schema>,
  { now, actor, consoleOrigin }: Call,
  { clearsFactors = false, ...asked }: Asked,
  isFirst = asked.personId === undefined,
) {
  const secret = mintToken();
  await withdrawSame(trx, asked);
  const invitation = await addInvitation(trx, {
    ...asked,
    clearsFactors,
    hash: hashToken(secret),
    invitedBy: actor,
    createdAt: now,
    expiresAt: now + (isFirst ? INVITATION_MS : RESET_MS),
  });
  return { invitation, link: `${consoleOrigin()}${PAGE}#${secret}` };
}
