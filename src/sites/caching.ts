/** Decides whose lifetime a site's responses get: their origins' or its policies'. Edge rule 4 */

import { MAX_PATTERNS, MAX_POLICIES, MAX_PRIORITY } from '#model/limits.ts';
import { POLICY_MATCHES } from '#model/rules.ts';
import type { CompileTools } from './compile-tools.ts';
import { readInteger, readObject, readOneOf, readText, SpecProblem } from './members.ts';
import { SitePolicies } from './policies.ts';
import type { CachingSpec, PolicySpec } from './spec.ts';

export interface SiteCaching {
  /** False: what no policy names is not stored. */
  readonly followsOrigin: boolean;
  /** Absent: there are none. */
  readonly policies?: SitePolicies;
}

export const ORIGIN_DECIDES: SiteCaching = { followsOrigin: true };

/** Throws `SpecProblem`. */
export function readCaching(value: unknown, tools: CompileTools): SiteCaching {
  const members = readObject('caching', value);
  const { policies } = members;
  const isList = Array.isArray(policies) && policies.length <= MAX_POLICIES;
  if (!isList) throw new SpecProblem(`caching.policies: expected a list of at most ${MAX_POLICIES}`);
  const specs = policies.map((item, index) => readPolicy(`caching.policies[${index}]`, item));
  if (specs.filter(({ match }) => match === 'regex').length > MAX_PATTERNS)
    throw new SpecProblem(`caching.policies: expected at most ${MAX_PATTERNS} patterns`);
  const followsOrigin = readOneOf('caching.followsOrigin', members['followsOrigin'], [true, false]);
  const prefixFirst = readOneOf('caching.prefixFirst', members['prefixFirst'], [true, false]);
  if (specs.length === 0) return { followsOrigin };
  return { followsOrigin, policies: compileAll({ followsOrigin, prefixFirst, policies: specs }, tools) };
}

function readPolicy(member: string, value: unknown): PolicySpec {
  const members = readObject(member, value);
  const { scheme } = members;
  return {
    match: readOneOf(`${member}.match`, members['match'], POLICY_MATCHES),
    content: readText(`${member}.content`, members['content']),
    ...(scheme !== undefined && { scheme: readOneOf(`${member}.scheme`, scheme, ['http', 'https']) }),
    priority: readInteger(`${member}.priority`, members['priority'], MAX_PRIORITY),
    isCached: readOneOf(`${member}.isCached`, members['isCached'], [true, false]),
    lifetimeSeconds: readInteger(`${member}.lifetimeSeconds`, members['lifetimeSeconds'], Number.MAX_SAFE_INTEGER, 0),
  };
}

function compileAll(spec: CachingSpec, tools: CompileTools): SitePolicies {
  try {
    return new SitePolicies(spec, tools);
  } catch (error) {
    if (error instanceof RangeError) throw new SpecProblem(`caching.policies: ${error.message}`, { cause: error });
    throw error;
  }
}
