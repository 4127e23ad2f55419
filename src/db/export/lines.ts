/** Formats and parses the lines of an export: JSON, with a head and an end line that describe the rows. */
import { parseObject } from '#lib/parse-object.ts';
import type { TableRow } from './tables.ts';

export interface ExportHead {
  /** The last migration of the database. */
  readonly step: string;
  readonly at: number;
  readonly withSecrets: boolean;
  /** Highest id ever assigned, by table. */
  readonly lastIds: Readonly<Record<string, number>>;
}

export type ExportLine =
  | {
      readonly kind: 'row';
      readonly table: string;
      readonly row: TableRow;
      /** Columns whose secret was left out. */
      readonly without: readonly string[];
    }
  | { readonly kind: 'end'; readonly rows: Readonly<Record<string, number>>; readonly sha256: string };

/** Why a line is refused; the message is for users. */
export class LineError extends Error {}

const FORMAT = 1;

/** Limit of a line; our largest row is far smaller. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;

export function formatExportHead({ step, at, withSecrets, lastIds }: ExportHead): string {
  const head = { causeway: 'database', format: FORMAT, step, at: new Date(at).toISOString(), secrets: withSecrets };
  return `${JSON.stringify({ ...head, last_ids: lastIds })}\n`;
}

export function formatRow(table: string, row: TableRow, without: string | undefined): string {
  return `${JSON.stringify({ table, row, ...(without !== undefined && { without: [without] }) })}\n`;
}

/** `sha256`: hash of all bytes before this line. */
export function formatEnd(rows: Readonly<Record<string, number>>, sha256: string): string {
  return `${JSON.stringify({ rows, sha256 })}\n`;
}

/** Throws `LineError`. */
export function parseHead(text: string): ExportHead {
  const { causeway, format, step, at, secrets, last_ids: lastIds } = parseObject(text) ?? {};
  if (causeway !== 'database') throw new LineError('this is not an export of a database of causeway');
  if (format !== FORMAT)
    throw new LineError(
      `it has the format ${JSON.stringify(format)}, and this release reads ${FORMAT}: import it with the release that made it, or a newer one`,
    );
  const time = typeof at === 'string' ? Date.parse(at) : Number.NaN;
  if (typeof step !== 'string' || typeof secrets !== 'boolean' || Number.isNaN(time) || !isCounts(lastIds))
    throw new LineError('"step", "at", "secrets" and "last_ids" are not what an export has');
  return { step, at: time, withSecrets: secrets, lastIds };
}

/** Parses any line but the first. Throws `LineError`. */
export function parseLine(text: string): ExportLine {
  const parsed = parseObject(text);
  if (parsed === undefined) throw new LineError('it is no JSON object: the file is cut or damaged');
  const { table, row, without = [], rows, sha256 } = parsed;
  if (typeof table === 'string' && isObject(row) && isTexts(without)) return { kind: 'row', table, row, without };
  if (typeof sha256 === 'string' && isCounts(rows)) return { kind: 'end', rows, sha256 };
  throw new LineError('it is neither a row nor the end of an export');
}

function isObject(value: unknown): value is TableRow {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function isCounts(value: unknown): value is Readonly<Record<string, number>> {
  return isObject(value) && Object.values(value).every((count) => Number.isSafeInteger(count) && Number(count) >= 0);
}
