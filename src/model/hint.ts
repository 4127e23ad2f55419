/** Hints say that something changed and should be read again; they carry no data. Pure. docs/decisions/0671 */
import type { AuditTarget } from './audit.ts';
import type { EventTarget } from './event.ts';

/**
 * `audit` and `event`: there is another row of the audit trail, or another event. `session`: tokens, persons and sessions. `account`: whatever
 * else the account has. The others are kinds of what changed; `message`: messages of an account and replies to them.
 */
export const HINT_KINDS = [
  'domain',
  'task',
  'certificate',
  'edge',
  'connector',
  'session',
  'account',
  'event',
  'audit',
  'message',
] as const;
type HintKind = (typeof HINT_KINDS)[number];

export interface Hint {
  readonly kind: HintKind;
  /** Id of the thing that changed; empty if it has none. */
  readonly id: string;
  /** Revision of a domain's settings. */
  readonly revision?: number | undefined;
  readonly at: number;
  /** The operation, the kind of the event, `propagation` or `messages`. */
  readonly hint: string;
  /** Whose it is; `undefined`: the operator's. */
  readonly accountId: number | undefined;
}

/** A change, as the audit trail or the table of events has it. */
export interface Happening {
  readonly from: 'audit' | 'event';
  readonly id: number;
  readonly at: number;
  readonly accountId: number | undefined;
  /** The operation, or the kind of the event. */
  readonly what: string;
  readonly target: { readonly kind: string; readonly id: string };
  readonly revision: number | undefined;
}

/** Returns the hints that a happening gives: one of the thing that changed, one of the row itself. */
export function hintsOf({ from, id, at, accountId, what, target, revision }: Happening): readonly Hint[] {
  const shared = { at, hint: what, accountId };
  const kind = KINDS[target.kind];
  return [
    ...(kind === undefined ? [] : [{ kind, id: target.id, revision, ...shared }]),
    { kind: from, id: String(id), ...shared },
  ];
}

/** Some of the account's messages are in another state, or there are others. */
export function messagesHint(accountId: number, at: number): Hint {
  return { kind: 'message', id: String(accountId), at, hint: 'messages', accountId };
}

const KINDS: Readonly<Record<string, HintKind | undefined>> = {
  account: 'account',
  addressList: 'account',
  app: 'account',
  authority: 'edge',
  certificate: 'certificate',
  connector: 'connector',
  domain: 'domain',
  edge: 'edge',
  edgeToken: 'edge',
  group: 'edge',
  keyring: 'account',
  machine: 'edge',
  numbers: 'account',
  person: 'session',
  price: 'connector',
  route: 'connector',
  session: 'session',
  task: 'task',
  token: 'session',
  webhook: 'account',
  '': undefined,
} satisfies Readonly<Record<AuditTarget['kind'] | EventTarget['kind'], HintKind | undefined>>;

export interface Watcher {
  /** Account whose hints are sent; `undefined`: those of all accounts, and the operator's. */
  readonly accountId: number | undefined;
  /** Domains to which the watcher is limited: it is sent hints of these alone. `undefined`: it is not limited. */
  readonly domainIds: readonly number[] | undefined;
  readonly kinds: readonly HintKind[];
  /** Ids of the things that are watched; empty: any. */
  readonly ids: readonly string[];
}

export function isFor({ accountId, domainIds, kinds, ids }: Watcher, hint: Hint): boolean {
  // Messages are read by their own account alone.
  if ((accountId !== undefined || hint.kind === 'message') && hint.accountId !== accountId) return false;
  if (!kinds.includes(hint.kind) || (ids.length > 0 && !ids.includes(hint.id))) return false;
  return domainIds === undefined || (hint.kind === 'domain' && domainIds.includes(Number(hint.id)));
}

/** Ids of the last row of each table up to which everything is known. */
export interface HintPosition {
  readonly audit: number;
  readonly event: number;
}

export function formatPosition({ audit, event }: HintPosition): string {
  return `${audit}-${event}`;
}

/** Returns `undefined` if the text is no position. */
export function parsePosition(text: string): HintPosition | undefined {
  const [, audit, event] = /^(\d{1,15})-(\d{1,15})$/.exec(text) ?? [];
  return event === undefined ? undefined : { audit: Number(audit), event: Number(event) };
}
