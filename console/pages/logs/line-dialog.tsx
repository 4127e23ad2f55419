/** All fields of one line, and the way to why the request ended so. */
import { LinkButton } from '../../components/button.tsx';
import { CopyButton } from '../../components/copy.tsx';
import { Facts } from '../../components/detail.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { explainPath } from '../../routes.ts';
import { useText } from '../../text/catalogue.ts';
import { logsText } from '../../text/logs.ts';
import { LINE_FIELDS, type Line, urlOf } from './line.ts';

interface LineDialogProps {
  readonly line: Line;
  readonly domainId: string;
  readonly onClose: () => void;
}

export function LineDialog({ line: { fields }, domainId, onClose }: LineDialogProps) {
  const t = useText(logsText);
  return (
    <Dialog
      title={t.more}
      isOpen
      onClose={onClose}
      footer={
        <>
          <CopyButton text={JSON.stringify(fields)} what={t.copyLine} />
          <LinkButton to={explainPath(domainId, urlOf(fields))}>{t.explain}</LinkButton>
        </>
      }
    >
      <Facts
        facts={LINE_FIELDS.map((field) => ({
          title: t.fields[field],
          value: <span className="mono wrap">{fields[field]}</span>,
        }))}
      />
    </Dialog>
  );
}
