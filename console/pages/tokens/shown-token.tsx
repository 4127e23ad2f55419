/** The value of a token, which is shown this once. */
import { CopyBox } from '../../components/copy.tsx';
import { OnceDialog } from '../../components/once-dialog.tsx';
import { useText } from '../../text/catalogue.ts';
import { tokensText } from '../../text/tokens.ts';

export function ShownToken({ token, onClose }: { readonly token: string; readonly onClose: () => void }) {
  const t = useText(tokensText);
  return (
    <OnceDialog title={t.shownTitle} done={t.kept} onDone={onClose}>
      <CopyBox text={token} />
      <p className="help">{t.shownHelp}</p>
    </OnceDialog>
  );
}
