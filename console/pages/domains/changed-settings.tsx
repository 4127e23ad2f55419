/** The settings that several domains are to get, each with its control. */
import { useState } from 'react';
import { TOPIC_TEXTS } from '#contract/changes/setting-texts.ts';
import type { DataOf } from '#contract/operations.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Field } from '../../components/field.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Select } from '../../components/select.tsx';
import { useRead } from '../../queries.ts';
import { usePreference } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { changeDomainsText } from '../../text/change-domains.ts';
import { commonText } from '../../text/common.ts';
import { DomainSettingControl } from '../domain/domain-setting-control.tsx';
import {
  changedOf,
  type Draft,
  draftProblems,
  isWide,
  SETTINGS,
  type Setting,
  storedValue,
} from '../domain/settings-draft.ts';
import type { ChosenDomains } from './change-domains.tsx';
import styles from './changed-settings.module.css';
import { CopyDialog } from './copy-dialog.tsx';

interface ChangedSettingsProps {
  readonly domains: ChosenDomains;
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
}

export function ChangedSettings({ domains, draft, onChange }: ChangedSettingsProps) {
  const t = useText(changeDomainsText);
  const [isCopying, setCopying] = useState(false);
  // A new row begins with what the first domain has.
  const load = useRead('domain.settings', { domain_id: domains[0].domain_id });
  const rows = changedOf(draft);
  const set = ({ id }: Setting, value: unknown) => onChange(new Map(draft).set(id, { value, base: value }));
  const remove = ({ id }: Setting) => onChange(new Map([...draft].filter(([other]) => other !== id)));
  return (
    <Card title={t.what} actions={<Button onClick={() => setCopying(true)}>{t.copy}</Button>} isFlush>
      <Loaded load={load} lines={1}>
        {(stored) => (
          <>
            {rows.map((setting) => (
              <SettingRow
                key={setting.id}
                {...{ setting, draft }}
                onChange={(value) => set(setting, value)}
                onRemove={() => remove(setting)}
              />
            ))}
            <div className="pad">
              <AddSetting
                {...{ draft, stored }}
                onAdd={(setting) => set(setting, storedValue(stored.settings, setting))}
              />
            </div>
          </>
        )}
      </Loaded>
      {isCopying && (
        <CopyDialog
          domains={domains}
          onClose={() => setCopying(false)}
          onCopy={(copied) => {
            onChange(new Map([...draft, ...copied]));
            setCopying(false);
          }}
        />
      )}
    </Card>
  );
}

interface SettingRowProps {
  readonly setting: Setting;
  readonly draft: Draft;
  readonly onChange: (value: unknown) => void;
  readonly onRemove: () => void;
}

function SettingRow({ setting, draft, onChange, onRemove }: SettingRowProps) {
  const t = useText(changeDomainsText);
  const common = useText(commonText);
  const locale = usePreference('locale');
  const { topic, text, id } = setting;
  const value = draft.get(id)?.value;
  const title = text.title[locale];
  return (
    <Field
      label={title}
      help={[TOPIC_TEXTS[topic].title[locale], text.effect[locale]].filter((part) => part !== '').join(t.divider)}
      error={draftProblems(draft, locale).get(id)}
      isRow
      isWide={isWide(setting)}
      mark={
        <span className={styles['remove']}>
          <IconButton icon="close" label={`${common.remove}: ${title}`} onClick={onRemove} />
        </span>
      }
    >
      {(ids) => <DomainSettingControl {...{ setting, ids, value, onChange }} />}
    </Field>
  );
}

interface AddSettingProps {
  readonly draft: Draft;
  readonly stored: DataOf<'domain.settings'>;
  readonly onAdd: (setting: Setting) => void;
}

function AddSetting({ draft, stored, onAdd }: AddSettingProps) {
  const t = useText(changeDomainsText);
  const locale = usePreference('locale');
  const others = SETTINGS.filter(({ id, topic }) => !draft.has(id) && stored.settings[topic] !== undefined);
  const choices = others.map(({ id, topic, text }) => ({
    value: id,
    label: `${TOPIC_TEXTS[topic].title[locale]} · ${text.title[locale]}`,
  }));
  return (
    <Select
      label={t.addSetting}
      choices={[{ value: '', label: t.addSetting }, ...choices]}
      value=""
      onChange={(chosen) => {
        const setting = others.find(({ id }) => id === chosen);
        if (setting) onAdd(setting);
      }}
    />
  );
}
