/** Which settings of a domain others get. Pure. */
import { SETTING_TOPICS, type SettingTopic } from '#contract/changes/setting-topics.ts';
import type { DataOf } from '#contract/operations.ts';
import { isSameValue } from '../../forms/setting-value.ts';
import { type Draft, SETTINGS, type Settings, storedValue } from '../domain/settings-draft.ts';

/** Topics that are about one domain: its origins, its certificate. */
const OWN: readonly SettingTopic[] = ['origin', 'ssl'];

/** Topics that are taken over unless somebody chooses others: in which something was set, and which are not about one domain. */
export function topicsToCopy({
  settings,
  defaults,
}: Pick<DataOf<'domain.settings'>, 'settings' | 'defaults'>): ReadonlySet<SettingTopic> {
  const isSet = (topic: SettingTopic) =>
    SETTINGS.some(
      (setting) =>
        setting.topic === topic &&
        !isSameValue(setting.field, storedValue(settings, setting), storedValue(defaults, setting)),
    );
  return new Set(
    SETTING_TOPICS.filter((topic) => settings[topic] !== undefined && !OWN.includes(topic) && isSet(topic)),
  );
}

/** All settings of these topics, those with their default too: domains become alike in them. */
export function copiedDraft(settings: Settings, topics: ReadonlySet<SettingTopic>): Draft {
  const copied = SETTINGS.filter(({ topic }) => topics.has(topic) && settings[topic] !== undefined).map((setting) => {
    const value = storedValue(settings, setting);
    return [setting.id, { value, base: value }] as const;
  });
  return new Map(copied);
}
