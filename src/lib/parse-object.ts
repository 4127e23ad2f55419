/** Parses JSON objects from external sources, whose members are still unchecked. */

/** Parses a JSON object; `undefined` if the text is anything else. */
export function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    // `as`: an object's members are unknown values by their names.
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
