/** The filter of a log, one field for each of its terms. */
import { Field } from '../../components/field.tsx';
import { TextInput } from '../../components/input.tsx';
import { useText } from '../../text/catalogue.ts';
import { logsText } from '../../text/logs.ts';
import { FILTER_FIELDS, type Filter } from './line.ts';

interface FilterFieldsProps {
  readonly filter: Filter;
  readonly onChange: (filter: Filter) => void;
  readonly isDisabled?: boolean;
}

export function FilterFields({ filter, onChange, isDisabled = false }: FilterFieldsProps) {
  const t = useText(logsText);
  return FILTER_FIELDS.map((field) => (
    <Field key={field} label={t.filters[field]}>
      {(ids) => (
        <TextInput
          ids={ids}
          isMono
          placeholder={t.examples[field]}
          value={filter[field]}
          disabled={isDisabled}
          onChange={(event) => onChange({ ...filter, [field]: event.target.value })}
        />
      )}
    </Field>
  ));
}
