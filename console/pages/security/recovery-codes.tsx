/** Recovery codes, which are shown this once. */
import { Button } from '../../components/button.tsx';
import { CopyButton } from '../../components/copy.tsx';
import { OnceDialog } from '../../components/once-dialog.tsx';
import { downloadText } from '../../lib/download.ts';
import { useText } from '../../text/catalogue.ts';
import { securityText } from '../../text/security.ts';
import styles from './security.module.css';

interface RecoveryCodesProps {
  readonly codes: readonly string[];
  readonly onClose: () => void;
}

export function RecoveryCodes({ codes, onClose }: RecoveryCodesProps) {
  const t = useText(securityText);
  const text = `${codes.join('\n')}\n`;
  const actions = (
    <>
      <CopyButton text={text} what={t.recovery} />
      <Button icon="download" onClick={() => downloadText('causeway-recovery-codes.txt', 'text/plain', text)}>
        {t.download}
      </Button>
    </>
  );
  return (
    <OnceDialog title={t.codesTitle} done={t.kept} actions={actions} onDone={onClose}>
      <p>{t.codesHelp}</p>
      <ol className={styles['codes']}>
        {codes.map((code) => (
          <li key={code} className="mono">
            {code}
          </li>
        ))}
      </ol>
    </OnceDialog>
  );
}
