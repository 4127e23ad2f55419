/** The rules of CONTRIBUTING.md for the console: what it may import, and what is done in one place only. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, test } from 'node:test';
import { CONSOLE_PACKAGES } from '#roles/install/packages.ts';

const ROOT = join(import.meta.dirname, '..');
const MAX_FILE_LINES = 400;

/** Packages that run in the browser. */
const BROWSER_PACKAGES = [...CONSOLE_PACKAGES.filter((name) => !/vite/.test(name)), 'zod'];

/** What stands in one file or folder, and may not be done anywhere else. */
const IN_ONE_PLACE: readonly (readonly [what: string, pattern: RegExp, place: RegExp])[] = [
  [
    'requests',
    /(?<![\w.])fetch\(|\.fetch\b|\bsendBeacon\b|\bnew (?:XMLHttpRequest|EventSource|WebSocket)\b/,
    /^console\/call\.ts$/,
  ],
  [
    'paths of links',
    /\b(?:href|to|path)=\{?["'`]\/|\b(?:navigate|setLocation)\(\s*["'`]\/|["'`]\/console\b/,
    /^console\/routes\.ts$/,
  ],
  ['Chinese texts', /[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]/, /^console\/text\//],
  [
    'texts of elements',
    />(?!\s*Causeway\s*<)[^<>{}=;:()&|?]*[A-Za-z]{2}[^<>{}=;:()&|?]*(?:<\/|\{)/,
    /^console\/text\//,
  ],
  ['texts of attributes', /\s(?:alt|aria-label|label|placeholder|title)="[^"]*[A-Za-z]{2}/, /^console\/text\//],
];

/** What the policy forbids, or is no way to do it. */
const NOWHERE: readonly (readonly [what: string, pattern: RegExp])[] = [
  [
    'HTML as text',
    /\b(?:innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|srcdoc|srcDoc)\b|document\.write/,
  ],
  ['code as text', /\beval\(|\bnew Function\b|\bnew (?:Shared)?Worker\b/],
  ['colors beside the style sheets', /style=\{\{[^}]*(?:olor|background|#[0-9a-f]{3}|rgb|oklch)/],
];

const CALLS = /(?<![\w.])(?:call|fetch)\(|\.(?:mutate|mutateAsync|refetch|fetchQuery|prefetchQuery)\(/;

const isBrowserCode = (file: string) => !/^console\/(?:build|dist)\b|\.test\.ts$/.test(file);
const sources = globSync('console/**/*.{ts,tsx}', { cwd: ROOT }).filter(isBrowserCode).sort();
const codes = new Map(sources.map((file) => [file, withoutComments(readFileSync(join(ROOT, file), 'utf8'))]));

describe('architecture of the console', () => {
  test('the console imports its own files, contract, client, and libraries for browsers', () => {
    const wrong = sources.flatMap((file) =>
      importsOf(file).flatMap((specifier) => (mayImport(file, specifier) ? [] : [`${file} imports ${specifier}`])),
    );
    assert.deepEqual(wrong, []);
  });

  test('the service imports none of the packages that an installed release goes without', () => {
    const services = globSync('src/**/*.ts', { cwd: ROOT }).filter((file) => !/\.test\.ts$/.test(file));
    const pattern = new RegExp(`(?:from|import\\()\\s*'(?:${CONSOLE_PACKAGES.join('|')})['/]`);
    assert.deepEqual(
      services.filter((file) => pattern.test(readFileSync(join(ROOT, file), 'utf8'))),
      [],
    );
  });

  test(`no file is longer than ${MAX_FILE_LINES} lines`, () => {
    const files = globSync('console/**/*.{js,ts,tsx,css}', { cwd: ROOT, exclude: ['console/dist*/**'] });
    const long = files.filter((file) => readFileSync(join(ROOT, file), 'utf8').split('\n').length - 1 > MAX_FILE_LINES);
    assert.deepEqual(long, []);
  });

  test('every file opens with a comment that says what it owns', () => {
    const silent = sources.filter((file) => !readFileSync(join(ROOT, file), 'utf8').startsWith('/**'));
    assert.deepEqual(silent, []);
  });

  for (const [what, pattern, place] of IN_ONE_PLACE)
    test(`${what} are in one place`, () => {
      assert.deepEqual(
        findings(pattern).filter((line) => !place.test(line.split(':', 1)[0] ?? '')),
        [],
      );
    });

  for (const [what, pattern] of NOWHERE)
    test(`no file has ${what}`, () => {
      assert.deepEqual(findings(pattern), []);
    });

  test('no effect of a component calls the service: one that runs again and again would take it down', () => {
    const effects = [...codes].flatMap(([file, code]) => effectsIn(code).map((effect) => ({ file, effect })));
    assert.deepEqual(
      effects.filter(({ effect }) => CALLS.test(effect)).map(({ file, effect }) => `${file}: ${effect}`),
      [],
    );
  });

  test('the rules find what they are for', () => {
    const samples: readonly (readonly [pattern: RegExp | undefined, code: string, isFound: boolean])[] = [
      [IN_ONE_PLACE[0]?.[1], 'await fetch(url)', true],
      [IN_ONE_PLACE[0]?.[1], 'query.refetch()', false],
      [IN_ONE_PLACE[1]?.[1], '<Link href="/domains">', true],
      [IN_ONE_PLACE[1]?.[1], '<Link href={domainsPath()}>', false],
      [IN_ONE_PLACE[3]?.[1], '<p>Add domain</p>', true],
      [IN_ONE_PLACE[3]?.[1], '<p>{text.add}</p>', false],
      [IN_ONE_PLACE[3]?.[1], 'const a = (b: Map<string, number>): Promise<void> => {', false],
    ];
    for (const [pattern, code, isFound] of samples) assert.equal(pattern?.test(code), isFound, code);
    assert.deepEqual(effectsIn('a(); useEffect(() => { b(c()); }, [d]); e();'), ['(() => { b(c()); }, [d])']);
    assert.match('useEffect(() => void call(name))', CALLS);
  });
});

function findings(pattern: RegExp): readonly string[] {
  return [...codes].flatMap(([file, code]) => {
    const found = pattern.exec(code);
    return found === null ? [] : [`${file}: ${found[0].trim()}`];
  });
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|(?<![:'"`])\/\/.*$/gm, '');
}

function importsOf(file: string): readonly string[] {
  const code = codes.get(file) ?? '';
  const found = code.matchAll(/\bfrom\s*'([^']+)'|\bimport\s*\(?\s*'([^']+)'/g);
  return [...found].map(([, from, bare]) => from ?? bare ?? '');
}

function mayImport(file: string, specifier: string): boolean {
  if (specifier.startsWith('.')) return /^console\/(?!build\/|dist\/)/.test(normalize(join(dirname(file), specifier)));
  if (specifier.startsWith('#')) return /^#(?:contract|client)\//.test(specifier);
  return BROWSER_PACKAGES.some((name) => specifier === name || specifier.startsWith(`${name}/`));
}

/** What stands between the parentheses of each effect. */
function effectsIn(code: string): readonly string[] {
  return [...code.matchAll(/\buse(?:Layout)?Effect\(/g)].map(({ index, 0: { length } }) => {
    let depth = 1;
    let end = index + length;
    for (; depth > 0 && end < code.length; end += 1) depth += code[end] === '(' ? 1 : code[end] === ')' ? -1 : 0;
    return code.slice(index + length - 1, end);
  });
}
