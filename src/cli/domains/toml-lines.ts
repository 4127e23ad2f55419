/** Where a key stands in a TOML text that was parsed: the parser keeps no positions. */

/**
 * Returns the number of the line of a key, from 1; of its table if the key is not on a line of its own; `undefined` if neither
 * is found. Texts over several lines are read as if they were keys.
 */
export function lineOf(text: string, path: readonly string[]): number | undefined {
  const wanted = path.join('.');
  const table = path.slice(0, -1).join('.');
  let inside = '';
  let tableLine: number | undefined;
  for (const [index, line] of text.split('\n').entries()) {
    const header = /^\s*\[{1,2}\s*([^\]]+?)\s*\]{1,2}/.exec(line)?.[1];
    const key = /^\s*([\w."'-]+)\s*=/.exec(line)?.[1];
    if (header !== undefined) inside = plain(header);
    const found = header === undefined && key !== undefined ? [inside, plain(key)].filter(Boolean).join('.') : inside;
    if (found === wanted) return index + 1;
    if (tableLine === undefined && inside === table && table !== '') tableLine = index + 1;
  }
  return tableLine;
}

function plain(key: string): string {
  return key.replaceAll(/["'\s]/g, '');
}
