/** Cache policies, their words on the wire and in the model. Used by `wire.ts` only. */

import { matchOf, POLICY_KINDS } from '#contract/domains/policy-operations.ts';
import { localizeReason } from '#contract/errors/reasons.ts';
import { ServiceError } from '#contract/errors/service-error.ts';
import type { DataOf, RequestOf } from '#contract/operations.ts';
import { quote } from '#contract/schema/found.ts';
import type { CachePolicy, CachingSettings } from '#model/domain.ts';
import type { PathRule } from '#model/rules.ts';
import { checkPolicy } from '#sites/policy.ts';
import { writeFlag } from './wire-values.ts';

type WirePolicy = NonNullable<RequestOf<'config.setPolicies'>['policy']>[number];

const LOWEST_PRIORITY = 1;

/** Reads the whole set: policies that are not named are removed. */
export function readPolicies({ domain_id, use_header_setting, policy = [] }: RequestOf<'config.setPolicies'>) {
  const policies = policy.map((written, index) => readPolicy(`policy[${index}]`, written));
  return { domainId: domain_id, caching: { followsOrigin: use_header_setting, policies } };
}

function readPolicy(field: string, written: WirePolicy): CachePolicy {
  const { content, policy_type, policy_scheme, time_y = 0, time_d = 0, time_h = 0, time_i = 0, time_s = 0 } = written;
  return {
    ...checkedPathRule(`${field}[content]`, { match: matchOf(policy_type), content }),
    ...(policy_scheme !== undefined && { scheme: policy_scheme }),
    priority: written.priority ?? LOWEST_PRIORITY,
    isCached: written.is_cache,
    time: { years: time_y, days: time_d, hours: time_h, minutes: time_i, seconds: time_s },
  };
}

/** Throws `ServiceError` for a content that cannot be matched. */
export function checkedPathRule(field: string, rule: PathRule): PathRule {
  const reason = checkPolicy(rule);
  if (reason === undefined) return rule;
  const expected = POLICY_KINDS[rule.match].content;
  throw new ServiceError('entryInvalid', {
    field,
    expected,
    entry: quote(rule.content),
    reason: localizeReason(reason),
  });
}

export function writePolicies({
  followsOrigin,
  policies,
}: CachingSettings): Omit<DataOf<'config.getPolicies'>, 'revision'> {
  return { use_header_setting: writeFlag(followsOrigin), policy: policies.map(writePolicy) };
}

function writePolicy({ match, content, scheme, priority, isCached, time }: CachePolicy) {
  return {
    is_cache: writeFlag(isCached),
    priority,
    policy_type: POLICY_KINDS[match].type,
    ...(scheme !== undefined && { policy_scheme: scheme }),
    content,
    time_y: time.years,
    time_d: time.days,
    time_h: time.hours,
    time_i: time.minutes,
    time_s: time.seconds,
  };
}
