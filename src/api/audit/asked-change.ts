/** A call as the audit trail tells it where its handler does not say more: what it named, and what it asked for. */

import { OPERATIONS } from '#contract/operations.ts';
import type { RouteName } from '#contract/routes.ts';
import type { Fields } from '#contract/schema/fields.ts';
import { type AuditChange, type AuditTarget, differenceOf } from '#model/audit.ts';

type Members = Readonly<Record<string, unknown>>;

/** Fields that name what an operation changes; the first that a request has counts. */
const NAMING: readonly (readonly [field: string, kind: AuditTarget['kind']])[] = [
  ['domain_id', 'domain'],
  ['domain', 'domain'],
  ['edge_id', 'edge'],
  ['token_id', 'token'],
  ['person_id', 'person'],
  ['ssl_key', 'certificate'],
  ['app_key', 'app'],
  ['prefix', 'route'],
  ['name', 'connector'],
  ['account_id', 'account'],
];

/** Kinds where a field of the same name means something else. */
const OTHER_KINDS: { readonly [N in RouteName]?: AuditTarget['kind'] } = {
  'fleetOperator.revokeToken': 'edgeToken',
  'addressList.set': 'addressList',
  'addressList.delete': 'addressList',
  'event.setWebhook': 'webhook',
  'eventOperator.setWebhook': 'webhook',
  'groupOperator.set': 'group',
  'groupOperator.remove': 'group',
  'operator.createAccount': 'account',
  'operator.rotateKeyring': 'keyring',
  'fleetOperator.rotateAuthority': 'authority',
  'sms.addOptOuts': 'numbers',
  'sms.removeOptOuts': 'numbers',
  'smsOperator.setOptOuts': 'numbers',
  'smsOperator.setPrice': 'price',
};

/** Fields of which nothing is told: the condition of the change, and telephone numbers, which no event is to keep. */
const UNTOLD: readonly string[] = ['if_revision', 'mobile'];

/** `members`: of the request as it was sent. `accountId`: the caller's own account. */
export function askedChange(name: RouteName, members: Members, accountId: number | undefined): AuditChange {
  const { fields }: { readonly fields: Fields } = OPERATIONS[name].request;
  // A request may have members that the operation does not know.
  const names = (naming: string) => Object.hasOwn(fields, naming) && isGiven(members[naming]);
  const [field, kind] = NAMING.find(([naming]) => names(naming)) ?? ['', ''];
  const told = Object.entries(fields).filter(
    ([asked]) => !UNTOLD.includes(asked) && asked !== field && asked !== 'account_id' && members[asked] != null,
  );
  const after = Object.fromEntries(told.map(([asked, { isSecret }]) => [asked, isSecret ? CHANGED : members[asked]]));
  const isDomain = field === 'domain';
  const id = field === '' ? '' : String(members[field]);
  return {
    accountId: names('account_id') ? Number(members['account_id']) : accountId,
    target: { kind: OTHER_KINDS[name] ?? kind, id: isDomain ? '' : id, name: isDomain ? id : '' },
    ...differenceOf({}, after),
  };
}

/** What stands for a secret. */
const CHANGED = { changed: true };

function isGiven(value: unknown): boolean {
  return (typeof value === 'string' && value !== '') || typeof value === 'number';
}
