/** Texts of statements that are made once in the process: PostgreSQL is told of each once for a connection, by name. docs/decisions/0389 */

const names = new Map<string, string>();

/** There are some dozens of them: they are never forgotten. */
export function makeLasting(text: string): void {
  if (!names.has(text)) names.set(text, `causeway_${names.size + 1}`);
}

/** `undefined`: it may never come again. */
export function nameOf(text: string): string | undefined {
  return names.get(text);
}
