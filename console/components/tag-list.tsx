/** A list of short entries: typed one by one, or pasted at once. */
import { type ClipboardEvent, type KeyboardEvent, useState } from 'react';
import { useText } from '../text/catalogue.ts';
import { commonText } from '../text/common.ts';
import { withEntries } from './entries.ts';
import type { ControlIds } from './field.tsx';
import styles from './tag-list.module.css';

interface TagListProps {
  readonly ids: ControlIds;
  readonly entries: readonly string[];
  readonly onChange: (entries: readonly string[]) => void;
}

export function TagList({ ids, entries, onChange }: TagListProps) {
  const t = useText(commonText);
  const [typed, setTyped] = useState('');
  const [isLeft, setLeft] = useState(false);
  // What was typed last stays in the field after it was left: a button that is being pressed must not move.
  const shown = isLeft ? entries.filter((entry) => !withEntries([], typed).includes(entry)) : entries;
  const add = (text: string) => {
    onChange(withEntries(entries, text));
    setTyped('');
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if ((event.key === 'Enter' || event.key === ',') && typed.trim() !== '') {
      event.preventDefault();
      add(typed);
    } else if (event.key === 'Backspace' && typed === '' && entries.length > 0) {
      onChange(entries.slice(0, -1));
    }
  };
  const onBlur = () => {
    if (typed.trim() === '') return;
    onChange(withEntries(entries, typed));
    setLeft(true);
  };
  const onFocus = () => {
    if (isLeft) setTyped('');
    setLeft(false);
  };
  const onPaste = (event: ClipboardEvent) => {
    const text = event.clipboardData.getData('text');
    if (!/[,\n]/.test(text)) return;
    event.preventDefault();
    add(text);
  };
  return (
    <div className={styles['box']} data-invalid={ids.isInvalid || undefined}>
      {shown.length > 0 && (
        <ul className={styles['tags']}>
          {shown.map((entry) => (
            <li key={entry} className={styles['tag']}>
              <span className="mono wrap">{entry}</span>
              <button
                type="button"
                aria-label={`${t.remove}: ${entry}`}
                onClick={() => onChange(entries.filter((other) => other !== entry))}
              >
                ×
              </button>
            </li>
          ))}
        </ul>
      )}
      <input
        id={ids.id}
        className={styles['input']}
        type="text"
        autoComplete="off"
        spellCheck={false}
        aria-describedby={ids.describedBy}
        aria-invalid={ids.isInvalid || undefined}
        placeholder={t.addEntry}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        {...{ onKeyDown, onPaste, onBlur, onFocus }}
      />
    </div>
  );
}
