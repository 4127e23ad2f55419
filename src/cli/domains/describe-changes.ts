/** Settings that differ, a line for each. */

const MAX_SHOWN = 60;

interface Change {
  readonly topic: string;
  readonly name: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

export function describeChanges(changes: readonly Change[]): string[] {
  return changes.map(({ topic, name, before, after }) => {
    const setting = topic === '' ? name : `${topic}.${name}`;
    return `${setting}: ${shown(before)} -> ${shown(after)}`;
  });
}

/** Values in JSON, of long ones the beginning. */
function shown(value: unknown): string {
  const json = JSON.stringify(value ?? null);
  return json.length > MAX_SHOWN ? `${json.slice(0, MAX_SHOWN).toWellFormed()}…` : json;
}
