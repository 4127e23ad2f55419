/** The file of `--status-words-file`: a carrier's status words, a line each, with commas between the cells. */
import {
  CONNECTOR_FIELDS,
  MAX_STATUS_TEXT_LENGTH,
  MAX_STATUS_WORD_LENGTH,
  WORD_GROUPS,
  WORD_STATE_NAMES,
} from '#contract/sms/sms-connector-fields.ts';
import { CliError } from '../command/context.ts';

/** word, state, group, text in Chinese, text in English */
const MAX_CELLS = 5;

/**
 * Returns the entries of `status_words` in their order. Blank lines and lines that begin with `#` are left out. Throws `CliError` with the
 * file, the line (from 1) and what was expected there.
 */
export function readStatusWords(table: string, file: string): readonly string[] {
  const lines = table
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .map((text, index) => ({ text, number: index + 1 }))
    .filter(({ text }) => text.trim() !== '' && !text.startsWith('#'));
  const entries = lines.map(({ text, number }) => {
    const cells = text.split(',').map((cell) => cell.trim());
    if (cells.length > MAX_CELLS || cells.some((cell) => cell.includes('|'))) throw problemAt(file, number, text);
    const [word, state = '', ...meaning] = cells;
    return [`${word}=${state}`, ...meaning].join('|');
  });
  const { schema, expects } = CONNECTOR_FIELDS.status_words;
  const [issue] = schema.safeParse(entries).error?.issues ?? [];
  if (issue === undefined) return entries;
  const line = lines[Number(issue.path[0])];
  if (line !== undefined) throw problemAt(file, line.number, line.text);
  throw new CliError(`${file}: expected ${expects.en}; found ${entries.length} lines`);
}

function problemAt(file: string, line: number, text: string): CliError {
  return new CliError(`${file}, line ${line}: expected ${EXPECTED}; found ${JSON.stringify(text.slice(0, MAX_SHOWN))}`);
}

const MAX_SHOWN = 200;
const EXPECTED = [
  'word,state or word,state,group,text in Chinese,text in English',
  `the word up to ${MAX_STATUS_WORD_LENGTH} ASCII characters, optionally ending with *`,
  `the state one of ${WORD_STATE_NAMES.join(', ')}`,
  `the group empty or one of ${WORD_GROUPS.join(', ')}`,
  `each text up to ${MAX_STATUS_TEXT_LENGTH} characters without commas or |`,
].join('; ');
