/** Changes of a domain's settings, and its revisions, on the wire. */

import type { TopicData } from '#contract/changes/setting-topics.ts';
import { describeWarning } from '#contract/domains/certificate-warnings.ts';
import { describeOriginWarning } from '#contract/domains/origin-warnings.ts';
import type { DataOf, RequestOf } from '#contract/operations.ts';
import type { DomainRevision } from '#db/tables/domain-revisions.ts';
import type { CertificateWarning } from '#model/certificate-warnings.ts';
import type { Domain } from '#model/domain.ts';
import type { OriginWarning } from './origin-warnings.ts';
import { writeActor } from './wire-audit.ts';
import type { Look } from './wire-domain.ts';
import type { SettingChange } from './wire-topics.ts';
import { DEFAULT_PAGE_SIZE, readDomainId, writeRevision } from './wire-values.ts';

interface SettingsAt {
  readonly domain: Domain;
  /** Absent: it is not kept when they were made. */
  readonly made: DomainRevision | undefined;
  readonly settings: TopicData;
}

export interface Changed {
  readonly revision: number;
  readonly changes: readonly SettingChange[];
  readonly originWarnings: readonly OriginWarning[];
  readonly certificateWarnings: readonly CertificateWarning[];
}

export const READ_DOMAIN_CHANGES = {
  'domain.settings': readDomainId,
  'domain.change': ({ domain_id, set, dry_run }: RequestOf<'domain.change'>) => ({
    domainId: domain_id,
    set,
    isDryRun: dry_run ?? false,
  }),
  'domain.listRevisions': ({ domain_id, before, page_size }: RequestOf<'domain.listRevisions'>) => ({
    domainId: domain_id,
    before,
    limit: page_size ?? DEFAULT_PAGE_SIZE,
  }),
  'domain.getRevision': ({ domain_id, revision }: RequestOf<'domain.getRevision'>) => ({
    domainId: domain_id,
    revision,
  }),
  'domain.compare': ({ domain_id, from_revision, to_revision }: RequestOf<'domain.compare'>) => ({
    domainId: domain_id,
    from: from_revision,
    to: to_revision,
  }),
  'domain.revert': ({ domain_id, to_revision, names, dry_run }: RequestOf<'domain.revert'>) => ({
    domainId: domain_id,
    to: to_revision,
    names,
    isDryRun: dry_run ?? false,
  }),
};

export const WRITE_DOMAIN_CHANGES = {
  'domain.settings': ({
    defaults,
    ...present
  }: SettingsAt & { readonly defaults: TopicData }): DataOf<'domain.settings'> => ({
    ...writeSettingsAt(present),
    ...writeRevision(present.domain),
    defaults,
  }),
  'domain.change': writeChanged,
  'domain.listRevisions': ({
    accountId,
    revisions,
    next,
  }: {
    readonly accountId: number;
    readonly revisions: readonly DomainRevision[];
    readonly next: string;
  }): DataOf<'domain.listRevisions'> => ({
    list: revisions.map((one) => ({ revision: String(one.revision), ...writeMade(one, accountId) })),
    next,
  }),
  'domain.getRevision': (at: SettingsAt & { readonly made: DomainRevision }): DataOf<'domain.getRevision'> => ({
    ...writeSettingsAt(at),
    revision: String(at.made.revision),
  }),
  'domain.compare': (changes: readonly SettingChange[]): DataOf<'domain.compare'> => ({
    changes: changes.map(writeChange),
  }),
  'domain.revert': (
    reverted: Changed & { readonly leftOut: readonly SettingChange[] },
    look: Look,
  ): DataOf<'domain.revert'> => ({
    ...writeChanged(reverted, look),
    left_out: reverted.leftOut.map(({ topic, name, after }) => ({ topic, name, earlier: after })),
  }),
};

function writeSettingsAt({ domain, made, settings }: SettingsAt) {
  return { ...writeMade(made, domain.accountId), settings };
}

/** `viewer`: the account that owns the domain. */
function writeMade(made: DomainRevision | undefined, viewer: number) {
  const { event, madeAt = 0 } = made ?? {};
  if (event === undefined) return { changed_at: madeAt, changed_by: null };
  const { id, actor, operation } = event;
  return { changed_at: madeAt, changed_by: { ...writeActor(actor, viewer), operation, event_id: String(id) } };
}

export function writeChanged(changed: Changed, { locale }: Look): DataOf<'domain.change'> {
  return {
    revision: String(changed.revision),
    changes: changed.changes.map(writeChange),
    warnings: [
      ...changed.originWarnings.map((one) => ({ code: one.code, text: describeOriginWarning(one, locale) })),
      ...changed.certificateWarnings.map(({ code, values }) => ({ code, text: describeWarning(code, values, locale) })),
    ],
  };
}

/** JSON has no `undefined`: a value that there is not is `null`. */
function writeChange({ topic, name, before = null, after = null }: SettingChange) {
  return { topic, name, before, after };
}
