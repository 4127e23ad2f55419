/** Settings of some topics, a card each. Nothing is sent before the changes were reviewed. */

import { TOPIC_TEXTS } from '#contract/changes/setting-texts.ts';
import { SETTING_TOPICS, type SettingTopic } from '#contract/changes/setting-topics.ts';
import type { DataOf } from '#contract/operations.ts';
import { LinkButton } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Field } from '../../components/field.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { isSameValue } from '../../forms/setting-value.ts';
import { useRead } from '../../queries.ts';
import type { SettingsTabName } from '../../routes/domains.ts';
import { PATHS } from '../../routes.ts';
import { usePreference, useSession } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { domainText } from '../../text/domain.ts';
import { shellText } from '../../text/shell.ts';
import { ChangeBar } from './change-bar.tsx';
import type { DomainData } from './domain.tsx';
import { DomainSettingControl } from './domain-setting-control.tsx';
import { ObtainCard } from './obtain-card.tsx';
import {
  type Draft,
  draftedValue,
  draftProblems,
  isAddressLists,
  isWide,
  SETTINGS,
  type Setting,
  storedValue,
  withValue,
} from './settings-draft.ts';
import styles from './settings-tab.module.css';

const TOPIC_TABS: Readonly<Record<SettingTopic, SettingsTabName>> = {
  origin: 'origin',
  advanced: 'advanced',
  policies: 'cache',
  cache: 'cache',
  referer: 'access',
  ua: 'access',
  ip: 'access',
  address_lists: 'access',
  rate_limits: 'access',
  redirects: 'advanced',
  headers: 'advanced',
  signing: 'access',
  ssl: 'https',
  recording: 'advanced',
};

interface SettingsTabProps {
  readonly tab: SettingsTabName;
  readonly domain: DomainData;
  readonly draft: Draft;
  readonly setDraft: (draft: Draft) => void;
}

export function SettingsTab({ tab, domain, draft, setDraft }: SettingsTabProps) {
  const load = useRead('domain.settings', { domain_id: domain.domain_id });
  const t = useText(domainText);
  const { features, access } = useSession();
  const mayWrite = access.includes('write');
  const topics = SETTING_TOPICS.filter((topic) => TOPIC_TABS[topic] === tab);
  return (
    <Loaded load={load} lines={8}>
      {(stored) => (
        <>
          {!mayWrite && <p className="help">{t.readOnly}</p>}
          <fieldset className={styles['topics']} disabled={!mayWrite}>
            {topics
              .filter((topic) => stored.settings[topic] !== undefined)
              .map((topic) => (
                <Topic key={topic} {...{ topic, stored, draft, setDraft }} />
              ))}
          </fieldset>
          {tab === 'https' && features.acme === '1' && <ObtainCard domain={domain} />}
          <ChangeBar {...{ domain, stored, draft, setDraft }} />
        </>
      )}
    </Loaded>
  );
}

interface TopicProps extends Pick<SettingsTabProps, 'draft' | 'setDraft'> {
  readonly topic: SettingTopic;
  readonly stored: DataOf<'domain.settings'>;
}

function Topic({ topic, stored, draft, setDraft }: TopicProps) {
  const shell = useText(shellText);
  const locale = usePreference('locale');
  const problems = draftProblems(draft, locale);
  const shown = SETTINGS.filter((setting) => setting.topic === topic && isNeeded(setting, draft, stored.settings));
  return (
    <Card
      title={TOPIC_TEXTS[topic].title[locale]}
      isFlush
      actions={isAddressLists({ topic }) && <LinkButton to={PATHS.addressLists}>{shell.pages.addressLists}</LinkButton>}
    >
      {shown.map((setting) => (
        <SettingRow key={setting.id} {...{ setting, stored, draft, setDraft }} error={problems.get(setting.id)} />
      ))}
    </Card>
  );
}

interface SettingRowProps extends Omit<TopicProps, 'topic'> {
  readonly setting: Setting;
  readonly error: string | undefined;
}

function SettingRow({ setting, stored: { settings, defaults }, draft, setDraft, error }: SettingRowProps) {
  const t = useText(domainText);
  const locale = usePreference('locale');
  const { field, text } = setting;
  const value = draftedValue(draft, settings, setting);
  const isDefault = isSameValue(field, value, storedValue(defaults, setting));
  const onChange = (next: unknown) => setDraft(withValue(draft, settings, setting, next));
  return (
    <Field
      label={text.title[locale]}
      help={text.effect[locale]}
      error={error}
      isRow
      isWide={isWide(setting)}
      isChanged={draft.has(setting.id)}
      mark={isDefault && <span className={styles['default']}>{t.isDefault}</span>}
    >
      {(ids) => <DomainSettingControl {...{ setting, ids, value, onChange }} />}
    </Field>
  );
}

/** What a refusal has no use for is hidden. */
function isNeeded({ name }: Setting, draft: Draft, settings: DataOf<'domain.settings'>['settings']): boolean {
  const refusal = SETTINGS.find(({ id }) => id === 'advanced.forbid_http_code');
  const code = refusal && draftedValue(draft, settings, refusal);
  if (name === 'forbid_redirect_url') return code === '302';
  return name !== 'html_403' || code === '403';
}
