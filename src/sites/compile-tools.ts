/**
 * What the sites of one table share: automata of patterns that are written alike, and what was read of texts that come
 * again.
 */
import { type Automaton, runAutomaton } from '#lib/automaton.ts';

import { compilePattern, type InvalidPattern, type Pattern, readPattern } from '#lib/linear-regexp.ts';
import { Lru } from '#lib/lru.ts';
import { addressUnits, PackedAddresses } from './packed-addresses.ts';
import { remember } from './remember.ts';
import { Signature } from './signature.ts';
import { readUserAgent, type UserAgent } from './user-agent.ts';

export interface CompileTools {
  readonly readPattern: (text: string) => Pattern | InvalidPattern;
  /** Whether a pattern, by its text, matches somewhere in a text. */
  readonly matchesPattern: (pattern: string, text: string) => boolean;
  readonly addressUnits: (address: string) => string | undefined;
  readonly readUserAgent: (text: string) => UserAgent;
  /** The addresses of a list that sites share, by its key. */
  readonly addressList: (key: string) => PackedAddresses;
  /** Keys of a site's signed URLs. */
  readonly urlKeys: (siteId: number) => readonly string[];
  /** A scratch signature for callers that use it only until they return; it is cleared first. */
  readonly signature: Signature;
}

/** Memory for automata: 400,000 everyday patterns, or 8,000 of the largest that are accepted. */
const MAX_AUTOMATA_BYTES = 256 * 1024 * 1024;
/** Texts per generation, of which two are kept. */
const MAX_ADDRESSES = 10_000;
/** Each takes 2 KiB: viewers have few different ones. */
const MAX_USER_AGENTS = 1_000;

/** Tools for a compilation that only shows whether a spec is valid: every pattern is compiled whole. */
export function createStrictTools(): CompileTools {
  return createTools(compilePattern, NOTHING_SHARED);
}

/**
 * Tools for sites that have been compiled strictly before. An automaton is made when a request first has a piece that
 * its pattern needs, which for most patterns of most sites never happens. docs/decisions/0119
 */
export function createCompileTools(shared: SharedParts = NOTHING_SHARED): CompileTools {
  return createTools(readPattern, shared);
}

/** What a specification names and does not hold. */
type SharedParts = Pick<CompileTools, 'addressList' | 'urlKeys'>;

const NOBODY = new PackedAddresses([]);
const NOTHING_SHARED: SharedParts = { addressList: () => NOBODY, urlKeys: () => [] };

function createTools(read: CompileTools['readPattern'], shared: SharedParts): CompileTools {
  const automata = new Lru<string, Automaton>({ maxWeight: MAX_AUTOMATA_BYTES, weigh: ({ length }) => length * 2 });
  const automatonOf = (pattern: string): Automaton => {
    const known = automata.get(pattern);
    if (known !== undefined) return known;
    const compiled = compilePattern(pattern);
    // Of a pattern that is refused by now: it matches nothing.
    const automaton = compiled.kind === 'pattern' ? compiled.automaton : '';
    automata.set(pattern, automaton);
    return automaton;
  };
  return {
    readPattern: read,
    matchesPattern: (pattern, text) => runAutomaton(automatonOf(pattern), text),
    addressUnits: remember(addressUnits, MAX_ADDRESSES),
    readUserAgent: remember(readUserAgent, MAX_USER_AGENTS),
    signature: new Signature(),
    ...shared,
  };
}
