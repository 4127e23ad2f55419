/** Answers as people read them: aligned columns, aligned pairs. */

/** The first row is the heading; the last column is not padded. */
export function formatTable(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => widthOf(row[column] ?? ''))));
  return rows.map((row) =>
    row
      .map((cell, column) => pad(cell, widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/**
 * Writes control characters as JSON does, but for line ends and tabs: what somebody else has stored cannot speak to the
 * terminal.
 */
export function withoutControls(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]/gu, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Pairs without a value are left out. */
export function formatPairs(pairs: readonly (readonly [string, string])[]): string[] {
  return formatTable(pairs.filter(([, value]) => value !== ''));
}

/** Control characters of a stored text do not reach the terminal. */
function pad(cell: string, width: number): string {
  const safe = cell.replace(/\p{Cc}/gu, ' ');
  return safe + ' '.repeat(Math.max(0, width - widthOf(safe)));
}

/** Chinese characters take two columns. */
function widthOf(text: string): number {
  return [...text].reduce(
    (sum, letter) =>
      sum + (/[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]/.test(letter) ? 2 : 1),
    0,
  );
}
