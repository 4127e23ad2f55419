/** The index of the decision records, `docs/decisions/README.md`, made from the records and from the files that cite them. */
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

export interface DecisionRecord {
  /** Four digits. */
  readonly number: string;
  readonly file: string;
  readonly title: string;
  /** Room of most of the paths that the record names and of the files that cite it; empty: none. */
  readonly room: string;
  /** Numbers of records whose content this page holds; the records themselves are gone. */
  readonly merged: readonly string[];
  /** Numbers of records that replaced this one, or parts of it, by the note below its title. */
  readonly successors: readonly string[];
  /** `false`: only parts of it are replaced. */
  readonly isReplaced: boolean;
  /** Rooms, `test`, `docs` and the like in whose files it is cited, and other records by their number. */
  readonly citedFrom: readonly string[];
}

const ROOT = join(import.meta.dirname, '../../..');
const FOLDER = 'docs/decisions';
export const INDEX_FILE = join(ROOT, FOLDER, 'README.md');
/** Old entries cite records by the numbers of their time. */
const HISTORY = ['CHANGELOG.md', 'docs/benchmarks-history.md', `${FOLDER}/README.md`];
const ROOMS = readRooms();

/** Records that name no path of the room that they are about. `project`: how the whole is built and tested. */
const ROOM_BY_HAND: Readonly<Record<string, readonly string[]>> = {
  acme: ['0437'],
  api: ['0050', '0341', '0469'],
  cli: ['0052', '0103'],
  db: ['0172', '0289', '0331'],
  edge: [
    ...['0040', '0041', '0042', '0043', '0073', '0083', '0104', '0111', '0112', '0113', '0123', '0124', '0125', '0131'],
    ...['0140', '0142', '0150', '0151', '0162', '0182', '0290', '0392', '0417', '0443'],
  ],
  feed: ['0006', '0022', '0076', '0077'],
  http: ['0030', '0031'],
  live: ['0490'],
  logs: ['0231', '0233'],
  model: ['0288'],
  project: ['0001', '0008', '0009', '0293', '0294', '0326', '0410', '0411', '0412', '0413', '0463', '0480', '0510'],
  roles: ['0051'],
  sms: ['0207', '0214', '0285', '0340', '0383', '0387', '0400'],
};

const HEAD = `# Decisions

One page for each choice that someone will ask about again: context, choice, consequences, when to revisit. The numbers are fixed; a
title names the thing that was decided. A record that another replaced says so below its title. When several records speak of one
thing, one page takes them over: it says below its title which numbers it contains, and their files go
([0510](0510-one-page-per-subject.md)).

This list is made by \`node test/support/docs/write-decisions-index.ts\`, and a test compares it. *Room* is the part of \`src/\` that the record
is about; *cited from* are the rooms, documents and records that refer to it.

| number | title | room | status | cited from |
|---|---|---|---|---|
`;

export function decisionsIndex(): string {
  const records = readDecisions();
  const rows = records.flatMap((record): [string, string][] => [
    [record.number, rowOf(record)],
    ...record.merged
      .filter((number) => number !== record.number)
      .map((number): [string, string] => [number, `| ${number} | | ${record.room} | part of ${linkTo(record)} | |`]),
  ]);
  return `${HEAD}${rows
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, row]) => row)
    .join('\n')}\n`;

  function rowOf({ number, file, title, room, successors, isReplaced, citedFrom }: DecisionRecord): string {
    const links = records
      .filter((record) => successors.includes(record.number))
      .map(linkTo)
      .join(', ');
    const status = links === '' ? 'in force' : `${isReplaced ? 'replaced by' : 'in force; parts replaced by'} ${links}`;
    return `| [${number}](${file}) | ${title} | ${room} | ${status} | ${citedFrom.join(', ')} |`;
  }
}

/** All records, by number. */
export function readDecisions(): DecisionRecord[] {
  const files = globSync(`${FOLDER}/[0-9]*.md`, { cwd: ROOT }).sort();
  const citations = citationsOf();
  return files.map((path) => {
    const text = read(path);
    const number = basename(path).slice(0, 4);
    const [title = ''] = text.split('\n', 1);
    const notes = text.split('\n\n', 2)[1] ?? '';
    const citing = citations.filter(({ numbers, from }) => numbers.has(number) && from !== number);
    return {
      number,
      file: basename(path),
      title: title.replace(/^# \d{4} /, ''),
      room: roomByHand(number) ?? mostNamed([...roomsNamedIn(text), ...citing.map(({ from }) => from)]),
      merged: notes.startsWith('*One page') ? [...notes.matchAll(/\b\d{4}\b/g)].map(([found]) => found) : [],
      successors: /^\*(?!\*|One page)/.test(notes) ? [...notes.matchAll(/\[(\d{4})\]/g)].map(([, by = '']) => by) : [],
      isReplaced: notes.startsWith('*Replaced by'),
      citedFrom: [...new Set(citing.map(({ from }) => from))].sort(),
    };
  });
}

/** Numbers of records that a text of the present refers to, and where from. */
export function citationsOf(): {
  readonly file: string;
  readonly from: string;
  readonly numbers: ReadonlySet<string>;
}[] {
  const files = globSync(['{src,console,test,bench,docs}/**/*.{ts,tsx,md}', 'console/*.js', '*.md'], {
    cwd: ROOT,
  }).sort();
  return files
    .filter((file) => !HISTORY.includes(file))
    .map((file) => ({ file, from: placeOf(file), numbers: new Set(numbersIn(read(file))) }));
}

function numbersIn(text: string): string[] {
  const paths = [...text.matchAll(/docs\/decisions\/(\d{4}(?:(?:, | and )\d{4})*)\b/g)].flatMap(([, list = '']) =>
    list.split(/, | and /),
  );
  const links = [...text.matchAll(/\[(\d{4})\]\([^)]*\)|\]\((?:[\w./]*\/)?(\d{4})-[a-z0-9-]+\.md/g)];
  return [...paths, ...links.map(([, label, file]) => file ?? label ?? '')];
}

function placeOf(file: string): string {
  if (file.startsWith(`${FOLDER}/`)) return basename(file).slice(0, 4);
  const [top = '', room = ''] = file.split('/');
  return top === 'src' && ROOMS.includes(room) ? room : top;
}

/** A record names files as `edge/pipeline/handle.ts`, `src/edge/pipeline/handle.ts` or `docs/edge.md`; only rooms count. */
function roomsNamedIn(text: string): string[] {
  return [...text.matchAll(/`(?:src\/)?([a-z]+)\/[\w./-]*`/g)].map(([, room = '']) => room);
}

/** The most frequent room, of equal ones the first in the alphabet; empty when no room is among the names. */
function mostNamed(names: readonly string[]): string {
  const counts = Map.groupBy(names.filter((name) => ROOMS.includes(name)).sort(), (name) => name);
  return [...counts].sort(([, a], [, b]) => b.length - a.length)[0]?.[0] ?? '';
}

function roomByHand(number: string): string | undefined {
  return Object.entries(ROOM_BY_HAND).find(([, numbers]) => numbers.includes(number))?.[0];
}

function readRooms(): string[] {
  return globSync('src/*/', { cwd: ROOT }).map((path) => basename(path));
}

function linkTo({ number, file }: DecisionRecord): string {
  return `[${number}](${file})`;
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}
