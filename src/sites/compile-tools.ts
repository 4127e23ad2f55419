/** What the sites of one table share: patterns that are written alike, and what was decided about texts that come again. */
import { type CompiledPattern, compilePattern } from '#lib/linear-regexp.ts';
import { Lru } from '#lib/lru.ts';

export interface CompileTools {
  readonly compilePattern: (text: string) => CompiledPattern;
  /** The same function, which may remember. `decide` is pure. */
  readonly remember: <T>(decide: (text: string) => T) => (text: string) => T;
}

/** Nothing is shared: for who compiles to see whether it can be done. */
export const PLAIN_TOOLS: CompileTools = { compilePattern, remember: (decide) => decide };

/** Of compiled patterns. Customers write the same ones, and a domain that is changed keeps most of its own. */
const MAX_PATTERN_BYTES = 16 * 1024 * 1024;
/** Decisions of one generation, of which two are kept. */
const MAX_REMEMBERED = 32_000;
/** Longer texts are decided anew each time: they would fill the memory, and seldom come again. */
const MAX_TEXT_CHARS = 256;

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
    remember: createRemember(),
  };
}

function patternBytes(compiled: CompiledPattern): number {
  return compiled.kind === 'pattern' ? compiled.sizeBytes : 0;
}

/** A hit must cost one look-up, so nothing is put in the order of use: what no generation has used is forgotten with it. */
function createRemember(): CompileTools['remember'] {
  let young = new Map<string, { readonly result: unknown }>();
  let old = young;
  let deciders = 0;
  const note = (key: string, found: { readonly result: unknown }) => {
    if (young.size >= MAX_REMEMBERED) {
      old = young;
      young = new Map();
    }
    young.set(key, found);
  };
  return <T>(decide: (text: string) => T) => {
    const decider = deciders++; // no other has its number: a site that is compiled anew finds nothing of the old one
    return (text: string): T => {
      if (text.length > MAX_TEXT_CHARS) return decide(text);
      const key = `${decider} ${text}`;
      const known = young.get(key);
      if (known !== undefined) return known.result as T; // by this very decider
      const found = old.get(key) ?? { result: decide(text) };
      note(key, found);
      return found.result as T; // as above
    };
  };
}
