/** The control of a setting, by the kind of its field. */
import type { SettingWords } from '#contract/changes/setting-words.ts';
import type { Field as ContractField } from '#contract/schema/fields.ts';
import type { ControlIds } from '../components/field.tsx';
import { NumberInput, TextArea, TextInput } from '../components/input.tsx';
import { Select } from '../components/select.tsx';
import { Switch } from '../components/switch.tsx';
import { TagList } from '../components/tag-list.tsx';
import { formatSeconds } from '../lib/format.ts';
import { usePreference } from '../services.tsx';
import { useText } from '../text/catalogue.ts';
import { commonText } from '../text/common.ts';
import { ObjectList } from './object-list.tsx';
import { entriesOf } from './setting-value.ts';

export interface SettingControlProps {
  readonly ids: ControlIds;
  readonly field: ContractField;
  readonly text: SettingWords;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

export function SettingControl({ ids, field, text, value, onChange }: SettingControlProps) {
  const locale = usePreference('locale');
  const { kind } = field;
  switch (kind) {
    case 'switch':
      return <Switch ids={ids} isOn={String(value ?? '0') === '1'} onChange={(isOn) => onChange(isOn ? '1' : '0')} />;
    case 'choice': {
      const choices = choicesOf(field).map((code) => ({
        value: code,
        label: text.values?.[code]?.[locale] ?? (code || '—'),
      }));
      return <Select ids={ids} choices={choices} value={String(value ?? '')} onChange={onChange} />;
    }
    case 'integer':
      return <NumberInput ids={ids} value={String(value ?? '')} onChange={(event) => onChange(event.target.value)} />;
    case 'seconds':
      return <SecondsInput {...{ ids, value, onChange }} />;
    case 'list':
    case 'choices':
      return <TagList ids={ids} entries={entriesOf(value, field)} onChange={(entries) => onChange([...entries])} />;
    case 'lines':
      return (
        <TextArea
          ids={ids}
          isMono
          value={Array.isArray(value) ? value.join('\n') : String(value ?? '')}
          onChange={(event) => onChange(event.target.value.split('\n'))}
        />
      );
    case 'page':
    case 'pem':
      return (
        <TextArea
          ids={ids}
          isMono
          rows={8}
          value={String(value ?? '')}
          onChange={(event) => onChange(event.target.value)}
        />
      );
    case 'objects':
      return <ObjectList {...{ ids, field, text, value, onChange }} />;
    case 'text':
    case 'url':
    case 'secret':
    case 'settings':
      return (
        <TextInput ids={ids} isMono value={String(value ?? '')} onChange={(event) => onChange(event.target.value)} />
      );
  }
}

/** The values of a choice, with an empty one if the field may be absent. */
function choicesOf({ values = [], isEmptyAbsent }: ContractField): readonly string[] {
  return isEmptyAbsent === true && !values.includes('') ? ['', ...values] : values;
}

/** The same duration in a larger unit stands below the number. */
function SecondsInput({ ids, value, onChange }: Pick<SettingControlProps, 'ids' | 'value' | 'onChange'>) {
  const t = useText(commonText);
  const locale = usePreference('locale');
  const seconds = Number(value);
  return (
    <>
      <NumberInput
        ids={ids}
        unit={t.seconds}
        value={String(value ?? '')}
        onChange={(event) => onChange(event.target.value)}
      />
      {Number.isInteger(seconds) && seconds >= 60 && <span className="help">{formatSeconds(seconds, locale)}</span>}
    </>
  );
}
