/** Wraps Markdown at a number of characters. Tables, code and headings keep their lines: they cannot be broken. */

export const MAX_LINE_CHARS = 120;

const ITEM = /^(\s*(?:[-*+]|\d+[.)])\s+)/;
/** Lines that end a paragraph and are kept as they are. */
const KEPT = /^\s*(?:$|\||#{1,6} |>|<|```|---+$|\[[^\]]+\]: )/;
/** Words that begin a list, a heading, a quotation or a table when they are the first of a line. */
const MARKER = /^(?:[-+*=]+|\d+[.)]|[#>|].*)$/;

interface Block {
  readonly isKept: boolean;
  readonly lines: string[];
}

/** Rewraps the paragraphs and list items that have a line beyond `maxChars`; all other text is unchanged. */
export function wrapMarkdown(text: string, maxChars = MAX_LINE_CHARS): string {
  return blocksOf(text)
    .flatMap((block) => (isTooLong(block, maxChars) ? rewrap(block.lines, maxChars) : block.lines))
    .join('\n');
}

/** Numbers, from 1, of the lines that `wrapMarkdown` would break. */
export function overlongLines(text: string, maxChars = MAX_LINE_CHARS): number[] {
  const lines = text.split('\n');
  const wrapped = new Set(wrapMarkdown(text, maxChars).split('\n'));
  return lines.flatMap((line, i) => (line.length > maxChars && !wrapped.has(line) ? [i + 1] : []));
}

/** Runs of lines: a paragraph or a list item, or one line that is kept. */
function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  let isCode = false;
  for (const line of text.split('\n')) {
    const isFence = /^\s*```/.test(line);
    const isKept = isCode || isFence || KEPT.test(line);
    if (isFence) isCode = !isCode;
    const last = blocks.at(-1);
    if (isKept || last === undefined || last.isKept || ITEM.test(line)) blocks.push({ isKept, lines: [line] });
    else last.lines.push(line);
  }
  return blocks;
}

function isTooLong({ isKept, lines }: Block, maxChars: number): boolean {
  const hasHardBreak = lines.some((line) => / {2}$|\\$/.test(line));
  return !isKept && !hasHardBreak && lines.some((line) => line.length > maxChars);
}

function rewrap(block: readonly string[], maxChars: number): string[] {
  const [first = ''] = block;
  const marker = ITEM.exec(first)?.[1] ?? /^\s*/.exec(first)?.[0] ?? '';
  const indent = ' '.repeat(marker.length);
  const lines: string[] = [];
  let line = marker;
  for (const word of wordsOf([first.slice(marker.length), ...block.slice(1)].join(' '))) {
    const isEmpty = line.trim() === '' || line === marker;
    if (isEmpty) line += word;
    else if (line.length + 1 + word.length <= maxChars || MARKER.test(word)) line += ` ${word}`;
    else {
      lines.push(line);
      line = indent + word;
    }
  }
  return [...lines, line];
}

/** Words between blanks; a code span on which a reader may search is one word. */
function wordsOf(text: string): string[] {
  return text.trim().match(/(?:`[^`]{1,90}`|\S)+/g) ?? [];
}
