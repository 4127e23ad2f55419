/** The changes that a page has read, as a file for spreadsheets. Pure. */
import type { DataOf } from '#contract/operations.ts';
import { writeCsv } from '../../lib/csv.ts';

/** Only operators are told the account. */
type Row = DataOf<'audit.list'>['list'][number] & { readonly account_id?: string };

const NAMES = ['actor', 'actor_name', 'address', 'operation', 'target_kind', 'target_id', 'target_name'] as const;

export function auditCsv(rows: readonly Row[]): string {
  const owner = rows.some(({ account_id }) => account_id !== undefined) ? (['account_id'] as const) : [];
  const names = [...owner, ...NAMES, 'revision', 'request_id'] as const;
  return writeCsv(
    ['at', ...names, 'changed'],
    rows.map((row) => [new Date(row.at).toISOString(), ...names.map((name) => row[name] ?? ''), row.changed.join(' ')]),
  );
}
