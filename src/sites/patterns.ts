/** What the sites of one table share: patterns that are written alike. */
import { type CompiledPattern, compilePattern } from '#lib/linear-regexp.ts';
import { Lru } from '#lib/lru.ts';

export type CompilePattern = (text: string) => CompiledPattern;

/** Customers write the same ones, and a domain that is changed keeps most of its own. */
const MAX_PATTERN_BYTES = 16 * 1024 * 1024;

/** Compiles each text once, as long as there is room. */
export function createPatterns(): CompilePattern {
  const patterns = new Lru<string, CompiledPattern>({ maxWeight: MAX_PATTERN_BYTES, weigh });
  return (text) => {
    const known = patterns.get(text);
    if (known !== undefined) return known;
    const compiled = compilePattern(text);
    patterns.set(text, compiled);
    return compiled;
  };
}

function weigh(compiled: CompiledPattern): number {
  return compiled.kind === 'pattern' ? compiled.sizeBytes : 0;
}
