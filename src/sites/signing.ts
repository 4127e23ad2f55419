/** Which URLs of a site need a signature, and by which keys. docs/decisions/0637 */
import { YEAR_SECONDS } from '#model/limits.ts';
import type { CompileTools } from './compile-tools.ts';
import { readInteger, readObject, readRules } from './members.ts';
import { PathRules, readPathRule } from './path-rules.ts';

export interface SiteSigning {
  readonly validSeconds: number;
  /** Absent: every URL needs a signature. */
  readonly paths: PathRules | undefined;
  /** Any of these makes a URL valid; without one, none is. */
  readonly keys: readonly string[];
}

/** Throws `SpecProblem`. */
export function readSigning(siteId: number, value: unknown, tools: CompileTools): SiteSigning {
  const members = readObject('signing', value);
  return {
    validSeconds: readInteger('signing.validSeconds', members['validSeconds'], YEAR_SECONDS, 0),
    paths: readRules('signing.paths', members['paths'], readPathRule, (paths) => new PathRules(paths, tools)),
    keys: [...tools.urlKeys(siteId)],
  };
}
