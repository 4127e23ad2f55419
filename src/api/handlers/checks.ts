/** `domain.check` and `domain.explain`: how a domain stands now, and what an edge would do with a request for it. */
import type { SettingsToChange } from '#contract/changes/setting-topics.ts';
import { ServiceError } from '#contract/errors/service-error.ts';
import { findCertificate } from '#db/tables/certificates.ts';
import { readServing } from '#db/tables/edge-groups.ts';
import { findFirstSeen } from '#db/tables/statistics.ts';
import type { AskedEdges, PostedAnswer } from '#feed/publish/asks.ts';
import { MAX_ASK_BYTES } from '#feed/wire/ask-messages.ts';
import { coversName } from '#model/certificate-names.ts';
import type { Domain } from '#model/domain.ts';
import { cnameOf, coveringWildcards } from '#model/domain-name.ts';
import { compileSite } from '#sites/compile.ts';
import type { SiteSpec } from '#sites/spec.ts';
import { PROBES_PER_MINUTE } from '../checks/checks.ts';
import { checkName } from '../checks/name-check.ts';
import { trySettings } from '../settings/change-topics.ts';
import { toSiteSpec } from '../settings/site-spec.ts';
import type { CertificateCheck, DomainCheckView } from '../wire/wire-checks.ts';
import { readExplanation, urlNotOfDomain } from '../wire/wire-checks.ts';
import type { Call, Handler } from './handler.ts';
import { readOwnDomain } from './own-domain.ts';

/** Label in place of a wildcard's `*`. */
const ANY_LABEL = 'causeway-check';
/** Time for an edge to explain, and for its answer to get here. */
const EXPLAIN_MS = 5_000;
/** Limit of a question, without its id and limit. */
const MAX_QUESTION_BYTES = MAX_ASK_BYTES - 200;

export const CHECK_HANDLERS = {
  'domain.check': async (call, { domainId }): Promise<DomainCheckView> => {
    const domain = await readOwnDomain(call, domainId);
    using _check = call.checks.begin(domain);
    const spec = toSiteSpec(domain);
    const name = domain.name.replace(/^\*/, ANY_LABEL);
    const [dns, certificate, origin, seenAt] = await Promise.all([
      checkName(name, cnameOf(domain.name, call.cnameSuffix), call.checks.resolvers()),
      checkCertificate(call, domain),
      spec && call.checks.checkOrigin(spec),
      findFirstSeen(call.db.query, domainId),
    ]);
    return { dns, certificate, origin, seenAt };
  },

  'origin.probe': async ({ checks, accountId }, spec) => {
    const waitMs = checks.takeProbe(accountId);
    if (waitMs > 0)
      throw new ServiceError('probeTooSoon', { limit: PROBES_PER_MINUTE, seconds: Math.ceil(waitMs / 1000) });
    return await checks.checkOrigin(spec);
  },

  'domain.explain': async (call, { domainId, question, set }) => {
    const domain = await readOwnDomain(call, domainId);
    const host = question.host.replace(/:\d+$/, '').toLowerCase();
    if (![host, ...coveringWildcards(host)].includes(domain.name)) throw urlNotOfDomain(domain.name, question.host);
    const asked = { groups: await groupsOf(call, domainId), isOne: true };
    const spec = set && (await trialSpec(call, domain, set));
    const content = { kind: 'explain', domainId, question: { ...question, ...(spec !== undefined && { spec }) } };
    if (Buffer.byteLength(JSON.stringify(content)) > MAX_QUESTION_BYTES) throw new ServiceError('trialTooLarge');
    const answer = await askOne(call, content, asked);
    const view = answer && readExplanation(answer);
    if (view === undefined) throw new ServiceError('edgeSilent', { seconds: EXPLAIN_MS / 1000 });
    return view;
  },
} satisfies Readonly<Record<string, unknown>> & {
  readonly [N in 'domain.check' | 'domain.explain' | 'origin.probe']: Handler<N>;
};

/** The domain as it would be with these settings. The page of a refusal is of no matter, and may be large. */
async function trialSpec(call: Call, domain: Domain, set: SettingsToChange): Promise<SiteSpec> {
  const settings = await trySettings(call, domain, set);
  const html403 = settings.html403 === '' ? '' : '-';
  const spec = toSiteSpec({ ...domain, settings: { ...settings, html403 } });
  if (spec === undefined) throw new ServiceError('edgeSilent', { seconds: 0 }); // it waits for review: no edge has it
  const compiled = compileSite(spec, 1);
  if (compiled.kind === 'invalid') throw new ServiceError('settingsInvalid', { problem: compiled.problem });
  return spec;
}

/** The groups of edges that serve the domain. */
export async function groupsOf({ db }: Pick<Call, 'db'>, domainId: number): Promise<readonly string[]> {
  const { defaults, ofDomain } = await readServing(db.query, [domainId]);
  return [...(ofDomain.get(domainId) ?? defaults)];
}

async function checkCertificate(call: Call, { settings, name }: Domain): Promise<CertificateCheck> {
  if (!settings.sslControl) return { state: 'off' };
  const found = await findCertificate(call.db.query, { accountId: call.accountId, key: settings.sslKey });
  if (found === undefined) return { state: 'missing' };
  const shown = { key: found.key, validTo: found.validTo };
  if (!coversName(found.names, name)) return { state: 'otherName', ...shown };
  if (found.validFrom > call.now) return { state: 'notYetValid', ...shown };
  return { state: found.validTo <= call.now ? 'expired' : 'valid', ...shown };
}

/** `undefined`: no edge has answered in time. */
async function askOne({ asks }: Call, content: object, asked: AskedEdges): Promise<PostedAnswer | undefined> {
  const { promise, resolve } = Promise.withResolvers<PostedAnswer | undefined>();
  using open = asks?.ask({ content, limitMs: EXPLAIN_MS, asked }, resolve);
  if (open === undefined) return undefined;
  const late = setTimeout(resolve, EXPLAIN_MS, undefined);
  try {
    return await promise;
  } finally {
    clearTimeout(late);
  }
}
