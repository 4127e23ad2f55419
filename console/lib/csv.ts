/** Tables as CSV (RFC 4180) that spreadsheets open as they are: UTF-8 with its mark, and no cell that they would run. */

export type Cell = string | number | null;

const BYTE_ORDER_MARK = '\u{feff}';
/** A text that begins so would be taken for a formula. */
const FORMULA = /^[=+\-@\t\r]/;

export function writeCsv(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return BYTE_ORDER_MARK + [head, ...rows].map((row) => `${row.map(writeCell).join(',')}\r\n`).join('');
}

function writeCell(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
