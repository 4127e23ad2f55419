/** A long text of addresses: how many there are, and what cannot be read of it, by its line. */
import { Field } from '../../components/field.tsx';
import { TextArea } from '../../components/input.tsx';
import { LineNotes } from '../../components/line-notes.tsx';
import { formatNumber } from '../../lib/format.ts';
import { usePreference } from '../../services.tsx';
import { addressListsText } from '../../text/address-lists.ts';
import { useText } from '../../text/catalogue.ts';
import { MAX_ADDRESSES, type WrittenAddress } from './addresses.ts';

interface AddressesFieldProps {
  readonly text: string;
  /** What the text comes to. */
  readonly written: readonly WrittenAddress[];
  readonly isReadOnly: boolean;
  readonly onChange: (text: string) => void;
}

export function AddressesField({ text, written, isReadOnly, onChange }: AddressesFieldProps) {
  const t = useText(addressListsText);
  const locale = usePreference('locale');
  const count = formatNumber(written.length, locale);
  const limit = formatNumber(MAX_ADDRESSES, locale);
  return (
    <>
      <Field
        label={t.addresses}
        help={t.addressesHelp}
        mark={<span className="dim"> {t.count(count, limit)}</span>}
        error={written.length > MAX_ADDRESSES ? t.tooMany(count, limit) : undefined}
      >
        {(ids) => (
          <TextArea
            ids={ids}
            isMono
            rows={14}
            readOnly={isReadOnly}
            value={text}
            onChange={({ target }) => onChange(target.value)}
          />
        )}
      </Field>
      <Problems written={written} />
    </>
  );
}

const SHOWN_PROBLEMS = 20;

function Problems({ written }: Pick<AddressesFieldProps, 'written'>) {
  const t = useText(addressListsText);
  const locale = usePreference('locale');
  const wrong = written.filter(({ isAddress }) => !isAddress);
  const shown = wrong.slice(0, SHOWN_PROBLEMS);
  const more = wrong.length - shown.length;
  return (
    <>
      <LineNotes notes={shown.map(({ line, text }) => ({ text, mark: t.line(line), problem: t.notAddress }))} />
      {more > 0 && <p className="help">{t.moreProblems(formatNumber(more, locale))}</p>}
    </>
  );
}
