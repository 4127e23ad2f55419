/** Exports as texts, for tests that read and change them. */
import { createHash } from 'node:crypto';
import { exportDatabase, importDatabase } from '#db/export/export.ts';
import type { ImportSummary } from '#db/export/put-in.ts';
import { openExport } from '#db/export/read.ts';
import { type Keyring, KeyringError } from '#db/secrets/keyring.ts';
import { silentLog } from '../feed/feed.ts';
import type { DatabaseTarget } from './databases.ts';

/** 2026-11-28T00:00:00.000Z */
export const EXPORTED_AT = Date.UTC(2026, 10, 28);

export async function exportText(target: DatabaseTarget, withSecrets = true): Promise<string> {
  let text = '';
  const write = async (more: string) => {
    text += more;
  };
  await exportDatabase({ ...target, log: silentLog }, { withSecrets, now: EXPORTED_AT, write });
  return text;
}

/** Imports a text in pieces of `pieceBytes`, as it may arrive through a pipe. */
export async function importText(
  target: DatabaseTarget,
  text: string | Uint8Array,
  ring?: Keyring,
  pieceBytes = 1000,
): Promise<ImportSummary> {
  const source = await openExport(inPieces(Buffer.from(text), pieceBytes));
  const loadRing = () => {
    if (ring === undefined) throw new KeyringError('there is no ring');
    return ring;
  };
  return await importDatabase({ ...target, log: silentLog }, source, loadRing);
}

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

/** The export with other lines, and with an end that fits them. */
export function sealLines(lines: readonly string[]): string {
  const counts: Record<string, number> = {};
  for (const line of lines.slice(1)) {
    const [, table = ''] = /^\{"table":"(\w+)"/.exec(line) ?? [];
    counts[table] = (counts[table] ?? 0) + 1;
  }
  const text = lines.map((line) => `${line}\n`).join('');
  return `${text}${JSON.stringify({ rows: counts, sha256: createHash('sha256').update(text).digest('hex') })}\n`;
}

/** Returns the lines, without the end line. */
export function linesOf(text: string): string[] {
  return text.split('\n').slice(0, -2);
}

/** What an import changes on purpose. */
export function withoutEpoch(text: string): readonly string[] {
  return linesOf(text).map((line) => line.replace(/"epoch":"[^"]*"/, '"epoch":""'));
}
