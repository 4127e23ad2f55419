/** What the sites of one table share: patterns that are written alike, and what was read of texts that come again. */
import { addressUnits } from '#lib/cidr.ts';
import { type CompiledPattern, compilePattern } from '#lib/linear-regexp.ts';
import { Lru } from '#lib/lru.ts';
import { remember } from './remember.ts';
import { Signature } from './signature.ts';
import { readUserAgent, type UserAgent } from './user-agent.ts';

export interface CompileTools {
  readonly compilePattern: (text: string) => CompiledPattern;
  readonly addressUnits: (address: string) => string | undefined;
  readonly readUserAgent: (text: string) => UserAgent;
  /** For who needs one until it returns; it is cleared first. */
  readonly signature: Signature;
}

/** Of compiled patterns. Customers write the same ones, and a domain that is changed keeps most of its own. */
const MAX_PATTERN_BYTES = 16 * 1024 * 1024;
/** Texts are remembered in two generations of so many. */
const MAX_ADDRESSES = 10_000;
/** Each takes 2 KiB: viewers have few different ones. */
const MAX_USER_AGENTS = 1_000;

/** Nothing is shared: for who compiles to see whether it can be done. */
export function createPlainTools(): CompileTools {
  return { compilePattern, addressUnits, readUserAgent, signature: new Signature() };
}

export function createCompileTools(): CompileTools {
  const patterns = new Lru<string, CompiledPattern>({ maxWeight: MAX_PATTERN_BYTES, weigh: patternBytes });
  return {
    compilePattern: (text) => {
      const known = patterns.get(text);
      if (known !== undefined) return known;
      const compiled = compilePattern(text);
      patterns.set(text, compiled);
      return compiled;
    },
    addressUnits: remember(addressUnits, MAX_ADDRESSES),
    readUserAgent: remember(readUserAgent, MAX_USER_AGENTS),
    signature: new Signature(),
  };
}

function patternBytes(compiled: CompiledPattern): number {
  return compiled.kind === 'pattern' ? compiled.sizeBytes : 0;
}
