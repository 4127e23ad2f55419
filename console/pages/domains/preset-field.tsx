/** Settings to begin with: one of the presets, shown as what it changes, or none. */
import { Diff } from '../../components/diff.tsx';
import { Field } from '../../components/field.tsx';
import { Select } from '../../components/select.tsx';
import { addDomainText } from '../../text/add-domain.ts';
import { useText } from '../../text/catalogue.ts';
import { useDifferences } from '../domain/use-differences.ts';
import { PRESET_NAMES, PRESETS, type PresetName } from './presets.ts';

interface PresetFieldProps {
  readonly value: PresetName | '';
  readonly onChange: (value: PresetName | '') => void;
}

export function PresetField({ value, onChange }: PresetFieldProps) {
  const t = useText(addDomainText);
  const choices = [...PRESET_NAMES, '' as const].map((name) => ({ value: name, label: t.presets[name] }));
  return (
    <>
      <Field label={t.preset} help={t.presetHelp}>
        {(ids) => <Select ids={ids} choices={choices} value={value} onChange={onChange} />}
      </Field>
      {value !== '' && <PresetDiff name={value} />}
    </>
  );
}

function PresetDiff({ name }: { readonly name: PresetName }) {
  const changes = PRESETS[name].map(({ id, before, after }) => {
    const [topic = '', setting = ''] = id.split('.');
    return { topic, name: setting, before, after };
  });
  return <Diff differences={useDifferences(changes)} />;
}
