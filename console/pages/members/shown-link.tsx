/** A link that is good once. */
import { CopyBox } from '../../components/copy.tsx';
import { OnceDialog } from '../../components/once-dialog.tsx';
import { Time } from '../../components/time.tsx';
import { useText } from '../../text/catalogue.ts';
import { membersText } from '../../text/members.ts';

interface ShownLinkProps {
  readonly link: string;
  readonly expiresAt: number;
  /** What it is good for, before the time at which it ends. */
  readonly help: string;
  readonly onClose: () => void;
}

export function ShownLink({ link, expiresAt, help, onClose }: ShownLinkProps) {
  const t = useText(membersText);
  return (
    <OnceDialog title={t.linkTitle} done={t.done} onDone={onClose}>
      <CopyBox text={link} />
      <p className="help">
        {help} <Time at={expiresAt} />
      </p>
    </OnceDialog>
  );
}
