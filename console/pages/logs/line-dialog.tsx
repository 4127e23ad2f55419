/** All fields of one line with what each means, and the way to why the request ended so. */
import { LinkButton } from '../../components/button.tsx';
import { CopyButton } from '../../components/copy.tsx';
import { Facts } from '../../components/detail.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { explainPath } from '../../routes/domains.ts';
import { useText } from '../../text/catalogue.ts';
import { logFieldsText } from '../../text/log-fields.ts';
import { logsText } from '../../text/logs.ts';
import { LINE_FIELDS, type Line, type LineField, urlOf } from './line.ts';

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
          value: (
            <>
              <span className="mono wrap">{fields[field]}</span>
              <Meaning field={field} value={fields[field]} />
            </>
          ),
        }))}
      />
    </Dialog>
  );
}

/** What the field counts or holds; for a cache code, what it says of this request. */
function Meaning({ field, value }: { readonly field: LineField; readonly value: string }) {
  const { meanings, codes, leftEarly } = useText(logFieldsText);
  const ofCode = field === 'cache' ? codes[value as keyof typeof codes] : undefined; // a code that is not known has none
  const ofStatus = field === 'status' && value === '499' ? leftEarly : undefined;
  const text = ofCode ?? ofStatus ?? meanings[field];
  return text === undefined ? null : <p className="help">{text}</p>;
}
