/** Finds comments and test titles that do not read as sentences, by the words of `word-list.ts`. Decides on texts; reads no file. */
import { HEADLESS_RELATIVES, OPENING_CONJUNCTIONS, OPENING_PREPOSITIONS, OPENING_PRONOUNS } from './word-list.ts';

/** `opening`: of a doc comment. `relative`: in any comment or title. `title`: how a test's title begins. */
export type FindingKind = 'opening' | 'relative' | 'title';

export interface Finding {
  readonly kind: FindingKind;
  /** Line in the file at which the comment or the title begins, from 1. */
  readonly line: number;
  /** The words around it, on one line. */
  readonly excerpt: string;
}

interface Passage {
  readonly kind: 'doc' | 'line' | 'title';
  readonly line: number;
  readonly text: string;
}

const EXCERPT_CHARS = 100;
const DOC_COMMENT = /\/\*\*(.*?)\*\//gs;
/** Line comments in consecutive lines are one passage. `//` within a string has no blank before it. */
const LINE_COMMENT = /(?<=^|\s)\/\/ .*(?:\n\s*\/\/ .*)*/g;
const TITLE = /\b(?:test|it)\(\s*(?:'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)"|`((?:\\.|[^`\\])*)`)/g;

const opening = startingWith([...OPENING_PREPOSITIONS, ...OPENING_PRONOUNS]);
const titleOpening = startingWith([...OPENING_PREPOSITIONS, ...OPENING_PRONOUNS, ...OPENING_CONJUNCTIONS]);

/** Findings in the text of one TypeScript file, in the order of its passages: doc comments, line comments, titles. */
export function lintWords(text: string): Finding[] {
  return passagesOf(text).flatMap(findingsIn);
}

function findingsIn({ kind, line, text }: Passage): Finding[] {
  const found: Finding[] = [];
  const begin = text.slice(0, EXCERPT_CHARS);
  if (kind === 'doc' && opening.test(text)) found.push({ kind: 'opening', line, excerpt: begin });
  if (kind === 'title' && titleOpening.test(text)) found.push({ kind: 'title', line, excerpt: begin });
  for (const pattern of HEADLESS_RELATIVES) {
    for (const { index } of text.matchAll(pattern)) {
      const from = Math.max(0, index - EXCERPT_CHARS / 3);
      found.push({ kind: 'relative', line, excerpt: text.slice(from, from + EXCERPT_CHARS) });
    }
  }
  return found;
}

function passagesOf(text: string): Passage[] {
  return [
    ...passagesBy(text, DOC_COMMENT, 'doc', /\n\s*\* ?/g),
    ...passagesBy(text, LINE_COMMENT, 'line', /\n\s*\/\/ ?|^\/\/ /g),
    ...passagesBy(text, TITLE, 'title', /\n\s*/g),
  ];
}

function passagesBy(text: string, pattern: RegExp, kind: Passage['kind'], margin: RegExp): Passage[] {
  return [...text.matchAll(pattern)].map((match) => ({
    kind,
    line: text.slice(0, match.index).split('\n').length,
    text: (match.slice(1).find((group) => group !== undefined) ?? match[0])
      .replaceAll(margin, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim(),
  }));
}

function startingWith(words: readonly string[]): RegExp {
  return new RegExp(`^(?:${words.join('|')})\\b(?!-)`, 'i');
}
