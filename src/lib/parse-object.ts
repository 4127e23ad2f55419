/** JSON that others wrote: an object whose members are still to be looked at. */

/** Parses a JSON object out of text; `undefined`: it is no JSON, or no object. */
export function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    // `as`: an object's members are unknown values by their names.
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
