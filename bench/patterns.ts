/**
 * Customers' patterns: what one costs on a target as long as may be (8 KiB), at half and at twice its length; what a domain's
 * twenty cost that all fail; and what compiling and keeping the worst of them takes.
 */
import { runAutomaton } from '#lib/automaton.ts';
import { type CompiledPattern, compilePattern } from '#lib/linear-regexp.ts';
import { SitePolicies } from '#sites/policies.ts';

const LONGEST = 8192;
/** Texts that are slow for engines that backtrack, or that build their states while matching; and everyday ones. */
const TEXTS = [
  '(a+)+$',
  '(a|aa)+$',
  '(a*)*b$',
  '([a-z]+)*!',
  '(a|b)*a(a|b){8}[xy]$',
  'a[ab]{9}[xy]$',
  '(a?){50}a{50}$',
  '(.*a){20}b',
  '(\\w+\\s?)+\\d',
  '\\.(jpg|jpeg|png|gif|webp|svg|ico|css|js|mjs|woff2?)(\\?.*)?$',
  '(news|sport|weather|culture|shop|video|live|blog|forum|wiki|account|basket|checkout|search|download|support|about|jobs|press|legal|privacy|contact|login|logout|profile|settings|admin|status|health|metrics|images|fonts|styles|scripts|assets|static|public|uploads|media|archive|events|tickets|music|movies|books|games|travel|food|health2|science|tech|money|house|garden|kids|pets|auto|style|photo|local|world)/',
  '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}',
];
/** Made and refused: as much work as compiling may be. */
const REFUSED = 'a.{400}[xy]$';
const ROUNDS = 200;
const PATTERNS = 20;

const patterns = TEXTS.map(compile);
for (const [index, { automaton }] of patterns.entries()) {
  const [half = 0, whole = 0, twice = 0] = [LONGEST / 2, LONGEST, LONGEST * 2].map((chars) =>
    Math.max(...targets(chars).map((target) => medianMs(() => runAutomaton(automaton, target)))),
  );
  const growth = `${(whole / half).toFixed(1)}, ${(twice / whole).toFixed(1)}`;
  console.log(`${TEXTS[index]}: ${whole.toFixed(3)} ms; doubling: times ${growth}; ${automaton.length * 2} bytes`);
}

const policies = new SitePolicies({
  followsOrigin: true,
  prefixFirst: false,
  policies: Array.from({ length: PATTERNS }, (_, index) => ({
    match: 'regex',
    content: `(a+)+[!-+]${index}$`, // nothing must be there that is long enough to be looked for
    priority: 1,
    isCached: true,
    lifetimeSeconds: 60,
  })),
});
for (const keyPath of targets(LONGEST)) {
  const target = { scheme: 'http', host: 'www.example.com', keyPath, query: '' } as const;
  console.log(`a domain's ${PATTERNS}: ${medianMs(() => policies.winnerFor(target)).toFixed(2)} ms`);
}
for (const text of [...TEXTS, REFUSED])
  console.log(`compiling ${text}: ${medianMs(() => compilePattern(text), 20).toFixed(1)} ms`);

/** One that repeats, and one that gives an automaton another state for nearly each character. */
function targets(chars: number): string[] {
  let seed = 1;
  const mixed = Array.from({ length: chars - 2 }, () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return seed >>> 31 === 0 ? 'a' : 'b';
  });
  return [`/${'a'.repeat(chars - 2)}-`, `/${mixed.join('')}-`];
}

function compile(text: string): CompiledPattern {
  const compiled = compilePattern(text);
  if (compiled.kind === 'invalid') throw new Error(`${text} ${compiled.reason}`);
  return compiled;
}

function medianMs(work: () => unknown, rounds = ROUNDS): number {
  const times = Array.from({ length: rounds }, () => {
    const startedAt = performance.now();
    work();
    return performance.now() - startedAt;
  });
  return times.sort((a, b) => a - b)[rounds / 2] ?? 0;
}
