/**
 * The words that the lint of comments and test titles looks for. `CONTRIBUTING.md`, "How we write", has the reasons and examples;
 * `word-lint.ts` applies the list.
 */

/** A doc comment that begins with one of these is a fragment: its subject is the name below it, or nowhere. */
export const OPENING_PREPOSITIONS: readonly string[] = [
  'about',
  'above',
  'after',
  'against',
  'among',
  'as',
  'at',
  'before',
  'behind',
  'below',
  'beside',
  'between',
  'beyond',
  'by',
  'during',
  'for',
  'from',
  'in',
  'inside',
  'into',
  'of',
  'on',
  'over',
  'past',
  'per',
  'since',
  'through',
  'to',
  'towards',
  'under',
  'until',
  'upon',
  'with',
  'within',
  'without',
];

/** "What", "which" and "whose" are not among them (`What a certificate is` is a noun), nor is "one" (`One row`). */
export const OPENING_PRONOUNS: readonly string[] = [
  'it',
  'its',
  'she',
  'he',
  'they',
  'their',
  'these',
  'those',
  'who',
  'whoever',
  'whom',
];

/** A test title that begins with one of these can only be read after the one before it. */
export const OPENING_CONJUNCTIONS: readonly string[] = ['also', 'and', 'but', 'nor', 'or', 'so', 'then', 'too'];

/** Words before "who": after one of them nobody is there whom the clause describes. */
const BEFORE_WHO = [
  'and',
  'as',
  'at',
  'because',
  'before',
  'but',
  'by',
  'for',
  'from',
  'if',
  'in',
  'of',
  'on',
  'or',
  'since',
  'so that',
  'than',
  'that',
  'to',
  'until',
  'when',
  'where',
  'whether',
  'while',
  'with',
].join('|');

/** Clauses that stand for a noun without having one; `architecture-words.test.ts` has an example of each. */
export const HEADLESS_RELATIVES: readonly RegExp[] = [
  new RegExp(String.raw`(?:\b(?:${BEFORE_WHO})|[.;:]) who(?:m|ever|mever)?\b`, 'gi'),
  /\bwhat (?:is|was|are|were|has|have|had) (?:no|none|not)\b/gi,
  // "There is none" is idiomatic, and so is "is none of them".
  /(?<!\bthere )\b(?:is|are|was|were|be) none\b(?! of)/gi,
  /\b(?:of|for|by|from|behind|before|after|to) what (?:came|comes|goes|went|stands|stood)\b/gi,
  /\bwhat (?:came|comes) of\b/gi,
];
