/** Gives a token a new value; the former one works for a while. */
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Notice } from '../../components/notice.tsx';
import { problemOf, useChange } from '../../queries.ts';
import { useText } from '../../text/catalogue.ts';
import { commonText } from '../../text/common.ts';
import { tokensText } from '../../text/tokens.ts';
import { ShownToken } from './shown-token.tsx';
import type { Token } from './tokens.tsx';

interface RotateDialogProps {
  readonly token: Token;
  readonly onClose: () => void;
}

export function RotateDialog({ token: { token_id, label }, onClose }: RotateDialogProps) {
  const t = useText(tokensText);
  const common = useText(commonText);
  const rotate = useChange('token.rotate');
  if (rotate.data) return <ShownToken token={rotate.data.access_token} onClose={onClose} />;
  return (
    <Dialog
      title={t.rotateTitle(label || t.unnamed)}
      isOpen
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button kind="primary" isBusy={rotate.isPending} onClick={() => rotate.mutate({ token_id })}>
            {t.rotate}
          </Button>
        </>
      }
    >
      <p>{t.rotateHelp}</p>
      {rotate.error && <Notice tone="bad">{problemOf(rotate.error).text}</Notice>}
    </Dialog>
  );
}
