/** Takes settings over from a domain, by topic; what is taken over can still be changed or left out. */
import { useState } from 'react';
import { TOPIC_TEXTS } from '#contract/changes/setting-texts.ts';
import { SETTING_TOPICS, type SettingTopic } from '#contract/changes/setting-topics.ts';
import type { DataOf } from '#contract/operations.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { toggled } from '../../components/entries.ts';
import { Field } from '../../components/field.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Select } from '../../components/select.tsx';
import { useRead } from '../../queries.ts';
import { usePreference } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { changeDomainsText } from '../../text/change-domains.ts';
import { commonText } from '../../text/common.ts';
import type { Draft } from '../domain/settings-draft.ts';
import type { ChosenDomains } from './change-domains.tsx';
import { copiedDraft, topicsToCopy } from './copied-settings.ts';
import styles from './copy-dialog.module.css';
import { useDomains } from './domain-select.tsx';

interface CopyDialogProps {
  readonly domains: ChosenDomains;
  readonly onClose: () => void;
  readonly onCopy: (copied: Draft) => void;
}

export function CopyDialog({ domains, onClose, onCopy }: CopyDialogProps) {
  const t = useText(changeDomainsText);
  const common = useText(commonText);
  const [from, setFrom] = useState(domains[0].domain_id);
  const [topics, setTopics] = useState<ReadonlySet<SettingTopic>>();
  const sources = useSources(domains);
  const load = useRead('domain.settings', { domain_id: from });
  const chosen = topics ?? (load.kind === 'ready' ? topicsToCopy(load.data) : new Set<SettingTopic>());
  return (
    <Dialog
      title={t.copyTitle}
      isOpen
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button
            kind="primary"
            disabled={load.kind !== 'ready' || chosen.size === 0}
            onClick={() => load.kind === 'ready' && onCopy(copiedDraft(load.data.settings, chosen))}
          >
            {t.take}
          </Button>
        </>
      }
    >
      <div className="stack">
        <Field label={t.from} help={t.fromHelp}>
          {(ids) => (
            <Select
              ids={ids}
              choices={sources}
              value={from}
              onChange={(id) => {
                setFrom(id);
                setTopics(undefined);
              }}
            />
          )}
        </Field>
        <Loaded load={load}>{(stored) => <Topics {...{ stored, chosen }} onChange={setTopics} />}</Loaded>
      </div>
    </Dialog>
  );
}

interface TopicsProps {
  readonly stored: DataOf<'domain.settings'>;
  readonly chosen: ReadonlySet<SettingTopic>;
  readonly onChange: (chosen: ReadonlySet<SettingTopic>) => void;
}

function Topics({ stored, chosen, onChange }: TopicsProps) {
  const t = useText(changeDomainsText);
  const locale = usePreference('locale');
  return (
    <fieldset className={styles['topics']}>
      <legend className={styles['legend']}>{t.topics}</legend>
      {SETTING_TOPICS.filter((topic) => stored.settings[topic] !== undefined).map((topic) => (
        <label key={topic} className={styles['topic']}>
          <input type="checkbox" checked={chosen.has(topic)} onChange={() => onChange(toggled(chosen, topic))} />
          {TOPIC_TEXTS[topic].title[locale]}
        </label>
      ))}
    </fieldset>
  );
}

/** The domains that are chosen, and the busiest of the others. */
function useSources(domains: ChosenDomains) {
  const own = domains.map(({ domain_id, domain_name }) => ({ value: domain_id, label: domain_name }));
  const others = useDomains().map(({ id, name }) => ({ value: id, label: name }));
  return [...own, ...others.filter(({ value }) => !own.some((one) => one.value === value))];
}
