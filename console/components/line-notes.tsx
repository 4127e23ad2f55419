/** What is said about single lines of a long text. */
import styles from './line-notes.module.css';

interface LineNote {
  /** Unlike those of the other notes. */
  readonly text: string;
  /** Number of the line, or what it is. */
  readonly mark: string;
  /** Why it cannot be sent; absent: it can. */
  readonly problem?: string | undefined;
}

export function LineNotes({ notes }: { readonly notes: readonly LineNote[] }) {
  if (notes.length === 0) return null;
  return (
    <ul className={styles['notes']} aria-live="polite">
      {notes.map(({ text, mark, problem }) => (
        <li key={text} className={styles['note']} data-problem={problem !== undefined || undefined}>
          <em>{mark}</em>
          <span className="mono wrap">{text}</span>
          {problem !== undefined && <span>{problem}</span>}
        </li>
      ))}
    </ul>
  );
}
