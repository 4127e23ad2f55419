/** Settings that a person has changed and not yet applied. Pure; the page keeps the draft while its tabs change. */
import { TOPIC_TEXTS } from '#contract/changes/setting-texts.ts';
import {
  SETTING_TOPICS,
  type SettingsToChange,
  type SettingTopic,
  TOPIC_FIELDS,
} from '#contract/changes/setting-topics.ts';
import type { SettingWords } from '#contract/changes/setting-words.ts';
import type { DataOf } from '#contract/operations.ts';
import type { Field, Fields } from '#contract/schema/fields.ts';
import type { Locale } from '#contract/schema/locale.ts';
import { request } from '#contract/schema/operation.ts';
import { problemsOf } from '../../forms/problems.ts';
import { isSameValue } from '../../forms/setting-value.ts';

export type Settings = DataOf<'domain.settings'>['settings'];

export interface Setting {
  readonly topic: SettingTopic;
  readonly name: string;
  /** `advanced.expires`, as `domain.revert` names it. */
  readonly id: string;
  readonly field: Field;
  readonly text: SettingWords;
}

interface Drafted {
  readonly value: unknown;
  /** What was stored when the person began to change it. */
  readonly base: unknown;
}

/** Changes by the ids of their settings. */
export type Draft = ReadonlyMap<string, Drafted>;

export const NO_DRAFT: Draft = new Map();

/** Every setting, in the order of the topics. */
export const SETTINGS: readonly Setting[] = SETTING_TOPICS.flatMap((topic) => {
  const fields: Fields = TOPIC_FIELDS[topic];
  const texts: Readonly<Record<string, SettingWords>> = TOPIC_TEXTS[topic].settings;
  return Object.entries(fields).flatMap(([name, field]) => {
    const text = texts[name];
    return text === undefined ? [] : [{ topic, name, id: `${topic}.${name}`, field, text }];
  });
});

const WIDE: readonly Field['kind'][] = ['objects', 'page', 'pem'];

/** Whether its control takes the whole width. */
export function isWide({ field }: Setting): boolean {
  return WIDE.includes(field.kind);
}

/** Whether it names one of the account's certificates. */
export function isCertificate({ topic, name }: Setting): boolean {
  return topic === 'ssl' && name.startsWith('ssl_key');
}

/** Whether it names some of the account's address lists. */
export function isAddressLists({ topic }: Pick<Setting, 'topic'>): boolean {
  return topic === 'address_lists';
}

export function findSetting(topic: string, name: string): Setting | undefined {
  return SETTINGS.find(({ id }) => id === `${topic}.${name}`);
}

export function storedValue(settings: Settings, { topic, name }: Pick<Setting, 'topic' | 'name'>): unknown {
  const stored: Readonly<Record<string, unknown>> = settings[topic] ?? {};
  return stored[name];
}

/** What a control shows. */
export function draftedValue(draft: Draft, settings: Settings, setting: Setting): unknown {
  const drafted = draft.get(setting.id);
  return drafted === undefined ? storedValue(settings, setting) : drafted.value;
}

/** A value that is the stored one again is not a change. */
export function withValue(draft: Draft, settings: Settings, setting: Setting, value: unknown): Draft {
  const next = new Map(draft);
  const stored = storedValue(settings, setting);
  if (isSameValue(setting.field, value, stored)) next.delete(setting.id);
  else next.set(setting.id, { value, base: draft.get(setting.id)?.base ?? stored });
  return next;
}

export function changedOf(draft: Draft): readonly Setting[] {
  return SETTINGS.filter(({ id }) => draft.has(id));
}

/** What `domain.change` is to set. */
export function toSet(draft: Draft): SettingsToChange {
  const topics = Map.groupBy(changedOf(draft), ({ topic }) => topic);
  const set = [...topics].map(([topic, settings]) => [
    topic,
    Object.fromEntries(settings.map(({ id, name }) => [name, draft.get(id)?.value])),
  ]);
  return Object.fromEntries(set);
}

export interface Conflict {
  readonly setting: Setting;
  /** When the person began, what the person wants, and what somebody else has stored since. */
  readonly base: unknown;
  readonly mine: unknown;
  readonly now: unknown;
}

/** Settings that somebody else has changed since the person began to change them, to something else than the person wants. */
export function conflictsOf(draft: Draft, settings: Settings): readonly Conflict[] {
  return changedOf(draft).flatMap((setting) => {
    const drafted = draft.get(setting.id);
    const now = storedValue(settings, setting);
    if (drafted === undefined || isSameValue(setting.field, drafted.base, now)) return [];
    if (isSameValue(setting.field, drafted.value, now)) return [];
    return [{ setting, base: drafted.base, mine: drafted.value, now }];
  });
}

/** `mine`: ids of settings to keep as the person wants them; in all other conflicts the stored value stays. */
export function resolved(draft: Draft, settings: Settings, mine: ReadonlySet<string>): Draft {
  const next = new Map(draft);
  for (const { setting, now } of conflictsOf(draft, settings)) {
    const drafted = draft.get(setting.id);
    if (drafted !== undefined && mine.has(setting.id)) next.set(setting.id, { ...drafted, base: now });
    else next.delete(setting.id);
  }
  return next;
}

/** What the contract says against the changed settings, by their ids. */
export function draftProblems(draft: Draft, locale: Locale): ReadonlyMap<string, string> {
  const problems = changedOf(draft).flatMap(({ id, name, field }) => {
    const text = problemsOf(request({ [name]: field }), { [name]: draft.get(id)?.value }, locale)[name];
    return text === undefined ? [] : [[id, text] as const];
  });
  return new Map(problems);
}
