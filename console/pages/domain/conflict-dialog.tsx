/** Two people changed the same settings: three columns, and a choice for each. */
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { toggled } from '../../components/entries.ts';
import { describeValue } from '../../forms/setting-value.ts';
import { usePreference } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { commonText } from '../../text/common.ts';
import { domainText } from '../../text/domain.ts';
import styles from './conflict-dialog.module.css';
import type { Conflict } from './settings-draft.ts';

interface ConflictDialogProps {
  readonly conflicts: readonly Conflict[];
  readonly onClose: () => void;
  /** `mine`: ids of the settings that are to be as this person wants them. */
  readonly onProceed: (mine: ReadonlySet<string>) => void;
}

export function ConflictDialog({ conflicts, onClose, onProceed }: ConflictDialogProps) {
  const t = useText(domainText);
  const common = useText(commonText);
  const [mine, setMine] = useState<ReadonlySet<string>>(new Set());
  return (
    <Dialog
      title={t.conflictTitle}
      isOpen
      isWide
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button kind="primary" onClick={() => onProceed(mine)}>
            {t.proceed}
          </Button>
        </>
      }
    >
      <p className="help">{t.conflictHelp}</p>
      {conflicts.map((conflict) => (
        <ConflictRow
          key={conflict.setting.id}
          conflict={conflict}
          isMine={mine.has(conflict.setting.id)}
          onToggle={() => setMine(toggled(mine, conflict.setting.id))}
        />
      ))}
    </Dialog>
  );
}

interface ConflictRowProps {
  readonly conflict: Conflict;
  readonly isMine: boolean;
  readonly onToggle: () => void;
}

function ConflictRow({ conflict: { setting, base, mine, now }, isMine, onToggle }: ConflictRowProps) {
  const t = useText(domainText);
  const common = useText(commonText);
  const locale = usePreference('locale');
  const describe = (value: unknown) => describeValue(setting.field, setting.text, value, locale, common);
  return (
    <fieldset className={styles['row']}>
      <legend className={styles['title']}>{setting.text.title[locale]}</legend>
      <div className={styles['column']}>
        <span className="help">{t.begun}</span>
        <code className="mono wrap">{describe(base)}</code>
      </div>
      <label className={styles['choice']}>
        <input type="radio" name={setting.id} checked={isMine} onChange={() => !isMine && onToggle()} />
        <span className={styles['column']}>
          <span className="help">{t.mine}</span>
          <code className="mono wrap">{describe(mine)}</code>
        </span>
      </label>
      <label className={styles['choice']}>
        <input type="radio" name={setting.id} checked={!isMine} onChange={() => isMine && onToggle()} />
        <span className={styles['column']}>
          <span className="help">{t.now}</span>
          <code className="mono wrap">{describe(now)}</code>
        </span>
      </label>
    </fieldset>
  );
}
