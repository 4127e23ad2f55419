/** A change of a domain, as the audit trail tells it: settings as `<topic>.<name>`, with the values that answers have. */
import { type AuditChange, type AuditMembers, differenceOf } from '#model/audit.ts';
import { DEFAULT_SETTINGS, type Domain } from '#model/domain.ts';
import { writeTopics } from '../wire/wire-topics.ts';

/** `revision`: the one that the change has made; absent: it has made none. */
export function changedDomain(before: Domain, after: Domain, revision?: number): AuditChange {
  return { ...ofDomain(after, revision), ...differenceOf(membersOf(before), membersOf(after)) };
}

/** Tells settings other than the defaults. */
export function addedDomain(domain: Domain): AuditChange {
  const { type, state, icpNumber } = domain;
  const bare = { ...membersOf({ ...domain, remark: '', settings: DEFAULT_SETTINGS }), icp_no: '' };
  const { after } = differenceOf(bare, { ...membersOf(domain), icp_no: icpNumber });
  return { ...ofDomain(domain, domain.settingRevision), before: {}, after: { type, status: state, ...after } };
}

/** The settings of a deleted domain are in its last revision. */
export function deletedDomain(domain: Domain): AuditChange {
  return { ...ofDomain(domain), before: { status: domain.state }, after: {} };
}

/** A domain that leaves an account, or comes to one: neither learns who the other is. */
export function movedDomain(domain: Domain, way: 'before' | 'after'): AuditChange {
  return { ...ofDomain(domain), before: {}, after: {}, [way]: { account_id: String(domain.accountId) } };
}

function ofDomain({ id, name, accountId }: Domain, revision?: number) {
  return { accountId, target: { kind: 'domain', id: String(id), name }, revision } as const;
}

function membersOf(domain: Domain): AuditMembers {
  const settings = Object.entries(writeTopics(domain)).flatMap(([topic, members]) =>
    Object.entries(members ?? {}).map(([name, value]) => [`${topic}.${name}`, value]),
  );
  const { state: status, remark, rejectReason = '' } = domain;
  const reason = status === 'rejected' && rejectReason !== '' && { reject_reason: rejectReason };
  return { status, remark, ...reason, ...Object.fromEntries(settings) };
}
