/** Questions to a name server by dig, the program of BIND. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { obtain } from '../runner/needs.ts';

const run = promisify(execFile);
const LIMIT_MS = 20_000;

export interface Dug {
  /** `NOERROR`, `NXDOMAIN`, … */
  readonly status: string;
  /** `qr`, `aa`, `tc`, … */
  readonly flags: readonly string[];
  /** Records of the answer, with single spaces. */
  readonly answer: readonly string[];
  readonly authority: readonly string[];
  /** What dig prints, whole. */
  readonly text: string;
}

/** `words`: options, name and type as dig takes them. */
export async function dig(port: number, ...words: readonly string[]): Promise<Dug> {
  const args = ['-p', String(port), '@127.0.0.1', '+tries=1', '+timeout=5', '+norecurse', ...words];
  const { stdout } = await run(obtain('dig'), args, { timeout: LIMIT_MS });
  return parseDig(stdout);
}

export function parseDig(text: string): Dug {
  const section = (name: string) =>
    (new RegExp(`^;; ${name} SECTION:\\n((?:.+\\n)+)`, 'm').exec(text)?.[1] ?? '')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith(';'))
      .map((line) => line.replace(/\s+/g, ' '));
  return {
    status: /status: (\w+)/.exec(text)?.[1] ?? '',
    flags: (/;; flags: ([\w ]*);/.exec(text)?.[1] ?? '').split(' '),
    answer: section('ANSWER'),
    authority: section('AUTHORITY'),
    text,
  };
}
