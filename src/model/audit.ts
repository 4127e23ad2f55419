/** The audit trail: changes with their authors and times. It has no secret, and no text of a message. docs/decisions/0623 */

/**
 * `token`: its holder. `person`: one who is signed in. `local`: a command on control's machine, which proves by its secret that it may read the data
 * directory. `service`: the service by itself.
 */
type ActorKind = 'token' | 'person' | 'local' | 'service';

export interface AuditActor {
  readonly kind: ActorKind;
  /** Label of the token; name of the person; user of this machine, as the command says it, unverified; part of the service. */
  readonly name: string;
  /** The account that owns the token, or that the person acts for. */
  readonly accountId?: number | undefined;
  readonly tokenId?: number | undefined;
  readonly personId?: number | undefined;
  /** The session of the call. */
  readonly sessionId?: number | undefined;
  /** Address of the client; empty for the service. */
  readonly address: string;
}

export const AUDIT_TARGET_KINDS = [
  'account',
  'addressList',
  'app',
  'authority',
  'certificate',
  'connector',
  'domain',
  'edge',
  'edgeToken',
  'group',
  'keyring',
  'numbers',
  'person',
  'price',
  'route',
  'session',
  'task',
  'token',
  'webhook',
  '',
] as const;

type TargetKind = (typeof AUDIT_TARGET_KINDS)[number];

export interface AuditTarget {
  readonly kind: TargetKind;
  /** Empty if it has none. */
  readonly id: string;
  /** What people call it; empty if that is the id, or if the operation does not read it. */
  readonly name: string;
}

export type AuditMembers = Readonly<Record<string, unknown>>;

/** One thing that a change concerns. */
export interface AuditChange {
  /** The account that owns it; absent: the service's operators do. */
  readonly accountId?: number | undefined;
  readonly target: AuditTarget;
  /** Only what differs: the members before the change, and after it. */
  readonly before: AuditMembers;
  readonly after: AuditMembers;
  /** Revision that the change has made. */
  readonly revision?: number | undefined;
}

/** The call, or the act of the service, that made changes. */
export interface AuditOccasion {
  readonly at: number;
  readonly actor: AuditActor;
  /** Name of the operation. */
  readonly operation: string;
  /** Empty for the service. */
  readonly requestId: string;
}

export interface AuditEvent extends AuditOccasion, AuditChange {
  readonly id: number;
}

/** Limit of a member's JSON, in characters. */
const MAX_MEMBER_CHARS = 4096;
const SHOWN_CHARS = 512;

/** Keeps the members that differ, and only the beginning of long ones. */
export function differenceOf(
  before: AuditMembers,
  after: AuditMembers,
): { readonly before: AuditMembers; readonly after: AuditMembers } {
  const differs = (name: string) => JSON.stringify(before[name]) !== JSON.stringify(after[name]);
  const kept = (members: AuditMembers) =>
    Object.fromEntries(
      Object.entries(members)
        .filter(([name, value]) => value !== undefined && differs(name))
        .map(([name, value]) => [name, shorten(value)]),
    );
  return { before: kept(before), after: kept(after) };
}

function shorten(value: unknown): unknown {
  const json = JSON.stringify(value);
  if (json.length <= MAX_MEMBER_CHARS) return value;
  const text = typeof value === 'string' ? value : json;
  return { beginning: text.slice(0, SHOWN_CHARS).toWellFormed(), characters: text.length };
}
