/** What an event of the audit trail says was before and after, as texts. Pure. */

type Values = Readonly<Record<string, unknown>>;

export interface AuditDifference {
  /** Name of the value. */
  readonly id: string;
  readonly before: string;
  readonly after: string;
}

/** Sorted by name. `words.secret` stands for a secret. */
export function differencesOf(
  before: Values,
  after: Values,
  words: { readonly secret: string },
): readonly AuditDifference[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names.map((id) => ({ id, before: textOf(before[id], words), after: textOf(after[id], words) }));
}

function textOf(value: unknown, { secret }: { readonly secret: string }): string {
  if (value === undefined || value === null || value === '') return '—';
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((entry) => typeof entry === 'string')) return value.join('\n') || '—';
  const text = JSON.stringify(value);
  return text === '{"changed":true}' ? secret : text;
}
