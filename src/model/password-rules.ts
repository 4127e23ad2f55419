/**
 * Which passwords are refused: short ones, and those that guessers try first. Lists of leaked passwords have few of twelve
 * characters; those are words of a small vocabulary, joined and decorated, so it is the vocabulary that is taken out here.
 * Pure. docs/decisions/0664
 */

export const MIN_PASSWORD_CHARS = 12;
export const MAX_PASSWORD_CHARS = 200;

/** Characters that have to be left without common words, runs and the person's own names. */
const MIN_OWN_CHARS = 5;

const WORDS = `password passwort passwd pass pwd admin administrator root user guest login welcome letmein secret access
master monkey dragon sunshine princess shadow football baseball basketball soccer hockey superman batman starwars
pokemon michael jordan jennifer charlie thomas daniel jessica ashley iloveyou loveyou love lovely mother father family
friend forever computer internet server system network test testing demo example sample default change changeme hello
hallo bonjour killer trustno freedom whatever cookie cheese chocolate summer winter spring autumn january february march
april monday friday china beijing shanghai woaini mima nihao huawei aliyun tencent causeway cdn sms console google
apple samsung microsoft windows linux abc abcd abcde qwerty qwertz azerty qwer asdf asdfgh zxcv zxcvbn qaz wsx edc`
  .split(/\s+/)
  .sort((a, b) => b.length - a.length);

const RUNS = ['abcdefghijklmnopqrstuvwxyz', '01234567890', 'qwertyuiop', 'asdfghjkl', 'zxcvbnm', 'qwertzuiop'];
const RUN_CHARS = 3;
const YEAR = /(?:19|20)\d\d/g;
const SIMILAR: Readonly<Record<string, string>> = {
  '@': 'a',
  '4': 'a',
  '3': 'e',
  '1': 'i',
  '!': 'i',
  '0': 'o',
  $: 's',
  '5': 's',
  '7': 't',
};

export type PasswordWeakness = 'short' | 'common';

/** `own`: words of the person, such as the name and the address. */
export function weaknessOf(password: string, own: readonly string[]): PasswordWeakness | undefined {
  if ([...password.normalize('NFC')].length < MIN_PASSWORD_CHARS) return 'short';
  const plain = password.normalize('NFKC').toLowerCase();
  const similar = plain.replace(YEAR, ' ').replace(/[@431!0$57]/g, (letter) => SIMILAR[letter] ?? letter);
  const words = [...own.flatMap(wordsOf), ...WORDS];
  const rests = [plain, similar].map((text) => ownPart(text, words));
  return rests.some((rest) => rest.length < MIN_OWN_CHARS) ? 'common' : undefined;
}

function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length >= 3);
}

/** What is left without words, runs such as `1234` or `poiu`, and characters and pieces that repeat. */
function ownPart(text: string, words: readonly string[]): string {
  let rest = text;
  for (const word of words) rest = rest.replaceAll(word, ' ');
  const kept = [...rest].filter((_, at) => !isInRun(rest, at)).join('');
  const letters = kept.replace(/[\s\p{P}\p{S}]+/gu, '').replace(YEAR, '');
  return [...new Set(letters)].length < MIN_OWN_CHARS - 1 ? '' : letters.replace(/(.{1,6}?)\1+/gsu, '$1');
}

function isInRun(text: string, at: number): boolean {
  for (let from = Math.max(0, at - RUN_CHARS + 1); from <= at; from += 1) {
    const piece = text.slice(from, from + RUN_CHARS);
    const reversed = [...piece].reverse().join('');
    if (piece.length === RUN_CHARS && RUNS.some((run) => run.includes(piece) || run.includes(reversed))) return true;
  }
  return false;
}
