/** The one table: the server filters, sorts and pages. On a phone each row becomes two lines. */
import { type ReactNode, type RefObject, useRef } from 'react';
import { classes } from '../lib/classes.ts';
import { useKey } from '../lib/use-key.ts';
import { useText } from '../text/catalogue.ts';
import { commonText } from '../text/common.ts';
import { toggled } from './entries.ts';
import styles from './table.module.css';

export interface Column<R> {
  /** Unlike those of the other columns. */
  readonly id: string;
  /** Empty: the column has buttons alone. */
  readonly title: string;
  readonly isNumber?: boolean;
  /** Place on a phone: `first` begins the row, `second` stands at its right, `hidden` is left out; others share the second line. */
  readonly phone?: 'first' | 'second' | 'hidden';
  readonly show: (row: R) => ReactNode;
}

interface TableProps<R> {
  /** What the rows are, for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<R>[];
  readonly rows: readonly R[];
  readonly keyOf: (row: R) => string;
  /** How a row is called where it is chosen; absent: by its key. */
  readonly nameOf?: (row: R) => string;
  /** Opens a row by a click on it or by Enter; the row has a link that does the same. */
  readonly onOpen?: (row: R) => void;
  readonly chosen?: Chosen;
}

/** The rows that are chosen, by their keys. */
interface Chosen {
  readonly keys: ReadonlySet<string>;
  readonly onChange: (keys: ReadonlySet<string>) => void;
}

export function Table<R>({ label, columns, rows, keyOf, nameOf = keyOf, onOpen, chosen }: TableProps<R>) {
  const t = useText(commonText);
  const body = useRef<HTMLTableSectionElement>(null);
  useRowKeys(body);
  const areAllChosen = rows.length > 0 && rows.every((row) => chosen?.keys.has(keyOf(row)));
  return (
    <div className={styles['scroll']}>
      <table className={styles['table']} aria-label={label}>
        <thead>
          <tr>
            {chosen && (
              <th className={styles['choose']}>
                <input
                  type="checkbox"
                  aria-label={t.chooseAll}
                  checked={areAllChosen}
                  onChange={() => chosen.onChange(new Set(areAllChosen ? [] : rows.map(keyOf)))}
                />
              </th>
            )}
            {columns.map(({ id, title, isNumber }) =>
              title === '' ? (
                <td key={id} />
              ) : (
                <th key={id} scope="col" className={classes(isNumber && styles['number'])}>
                  {title}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody ref={body}>
          {rows.map((row) => (
            <Row key={keyOf(row)} {...{ columns, row, onOpen, chosen }} rowKey={keyOf(row)} name={nameOf(row)} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface RowProps<R> {
  readonly columns: readonly Column<R>[];
  readonly row: R;
  readonly rowKey: string;
  readonly name: string;
  readonly onOpen: ((row: R) => void) | undefined;
  readonly chosen: Chosen | undefined;
}

function Row<R>({ columns, row, rowKey, name, onOpen, chosen }: RowProps<R>) {
  const t = useText(commonText);
  const isChosen = chosen?.keys.has(rowKey) === true;
  return (
    <tr
      className={classes(onOpen && styles['opens'], isChosen && styles['chosen'])}
      onClick={(event) => isOfRow(event.target) && onOpen?.(row)}
    >
      {chosen && (
        <td className={styles['choose']}>
          <input
            type="checkbox"
            aria-label={`${t.choose} ${name}`}
            checked={isChosen}
            onChange={() => chosen.onChange(toggled(chosen.keys, rowKey))}
          />
        </td>
      )}
      {columns.map(({ id, title, isNumber, phone, show }) => (
        <td
          key={id}
          className={classes(isNumber && styles['number'], styles[phone ?? 'third'])}
          data-title={isNumber ? title : undefined}
        >
          {show(row)}
        </td>
      ))}
    </tr>
  );
}

/** Not one of the row's own controls, and not the end of a selection of text. */
function isOfRow(target: EventTarget): boolean {
  const isControl = target instanceof Element && target.closest('a, button, input, label') !== null;
  return !isControl && getSelection()?.isCollapsed !== false;
}

/** `j` and `k` move among the rows' links, `x` chooses. */
function useRowKeys(body: RefObject<HTMLTableSectionElement | null>): void {
  const focused = () => [...(body.current?.rows ?? [])].findIndex((row) => row.contains(document.activeElement));
  const find = (n: number, selector: string) => body.current?.rows[n]?.querySelector<HTMLElement>(selector);
  useKey({ key: 'j' }, () => find(focused() + 1, 'a, button')?.focus());
  useKey({ key: 'k' }, () => find(focused() - 1, 'a, button')?.focus());
  useKey({ key: 'x' }, () => find(focused(), 'input[type=checkbox]')?.click());
}
