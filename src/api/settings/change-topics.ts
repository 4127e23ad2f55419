/**
 * Changes of a domain's settings by topic: one topic as its operation changes it, or some members of several at once, in one
 * revision. docs/decisions/0625
 */
import type { Transaction } from 'kysely';
import {
  SETTING_TOPICS,
  type SettingsToChange,
  type SettingTopic,
  TOPIC_FIELDS,
  TOPIC_OPERATIONS,
} from '#contract/changes/setting-topics.ts';
import { decodeRequest } from '#contract/decode.ts';
import { WIRE_DENY_LISTS } from '#contract/domains/deny-lists.ts';
import { ServiceError } from '#contract/errors/service-error.ts';
import { OPERATIONS } from '#contract/operations.ts';
import type { Schema } from '#db/schema/schema.ts';
import { type Domain, type DomainSettings, eachDenyList } from '#model/domain.ts';
import { READ } from '../wire/wire.ts';
import { WRITE_TOPICS } from '../wire/wire-topics.ts';
import { changeSettings, type Others, type Setter } from './change.ts';
import { rollingBack } from './rolling-back.ts';
import { MERGE_TOPICS, type TopicContext, type TopicInput } from './topics.ts';

interface TopicSetter extends Setter, TopicContext {}

type Members = Readonly<Record<string, unknown>>;

/** Returns the domain as it is then. */
export async function changeTopic<T extends SettingTopic>(
  setter: TopicSetter,
  domainId: number,
  topic: T,
  input: TopicInput<T>,
  others?: Others,
): Promise<Domain> {
  const merge = MERGE_TOPICS[topic];
  return await changeSettings(setter, domainId, (domain, trx) => merge(domain, input, trx, setter), others);
}

/** Changes the settings that `choose` returns. Returns the domain as it was, and as it is then. */
export async function changeTopics(
  setter: TopicSetter,
  domainId: number,
  isDryRun: boolean,
  choose: (domain: Domain, trx: Transaction<Schema>) => SettingsToChange | Promise<SettingsToChange>,
): Promise<{ readonly before: Domain; readonly after: Domain }> {
  let before: Domain | undefined;
  const change = async (domain: Domain, trx: Transaction<Schema>) => {
    before = domain;
    return await settingsWith(domain, await choose(domain, trx), trx, setter);
  };
  const db = isDryRun ? rollingBack(setter.db) : setter.db;
  const after = await changeSettings({ ...setter, db }, domainId, change);
  return { before: before ?? after, after };
}

/** The settings of the domain with those that are given, of which nothing is stored. */
export async function trySettings(
  context: TopicContext & Pick<Setter, 'db'>,
  domain: Domain,
  set: SettingsToChange,
): Promise<DomainSettings> {
  return await rollingBack(context.db).transaction((trx) => settingsWith(domain, set, trx, context));
}

/** The settings of the domain with those that are given. */
export async function settingsWith(
  domain: Domain,
  set: SettingsToChange,
  trx: Transaction<Schema>,
  context: TopicContext,
): Promise<DomainSettings> {
  let changed = domain;
  for (const topic of SETTING_TOPICS) {
    const given = set[topic];
    if (given === undefined) continue;
    const settings = await namingTopic(topic, () => mergeGiven(topic, changed, given, trx, context));
    changed = { ...changed, settings: clearLists(topic, given, settings) };
  }
  return changed.settings;
}

async function mergeGiven<T extends SettingTopic>(
  topic: T,
  domain: Domain,
  given: Members,
  trx: Transaction<Schema>,
  context: TopicContext,
): Promise<DomainSettings> {
  const operation = TOPIC_OPERATIONS[topic];
  const all = { ...presentOf(topic, domain), ...given, domain_id: domain.id, domain: domain.name };
  const decoded = decodeRequest(OPERATIONS[operation].request, all);
  if (decoded.kind === 'error') throw new ServiceError(decoded.code, decoded.parameters);
  const read = READ[operation] as (request: unknown) => TopicInput<T>; // the table has one for each operation
  return await MERGE_TOPICS[topic](domain, read(decoded.value), trx, context);
}

/**
 * What the request of the topic's operation would be to keep everything. A second certificate is kept by its absence, as it
 * gives way to a first one of its kind.
 */
function presentOf(topic: SettingTopic, domain: Domain): Members {
  const { ssl_key_second: _second, ...present }: Members = { ...WRITE_TOPICS[topic](domain) };
  return present;
}

/** Empties the lists of rules that are off, if an empty one is given. In an operation it means the stored list. */
function clearLists(topic: SettingTopic, given: Members, settings: DomainSettings): DomainSettings {
  const isCleared = (field: string) =>
    given[field] === '' || (Array.isArray(given[field]) && given[field].length === 0);
  if (topic === 'referer' && settings.referer.mode === 'off' && isCleared('referer_str'))
    return { ...settings, referer: { ...settings.referer, entries: [] } };
  const lists = eachDenyList((list) => {
    const isEmptied = Object.hasOwn(TOPIC_FIELDS[topic], WIRE_DENY_LISTS[list].list) && !settings[list].isOn;
    return isEmptied && isCleared(WIRE_DENY_LISTS[list].list) ? { isOn: false, entries: [] } : settings[list];
  });
  return { ...settings, ...lists };
}

/** Fields are named as they stand in the request: `set[advanced][expires]`. */
async function namingTopic<R>(topic: SettingTopic, work: () => Promise<R>): Promise<R> {
  try {
    return await work();
  } catch (error) {
    const field = error instanceof ServiceError ? error.parameters['field'] : undefined;
    if (!(error instanceof ServiceError) || typeof field !== 'string') throw error;
    const inside = field.replace(/^[^[]+/, (name) => `set[${topic}][${name}]`);
    throw error.with({ field: inside });
  }
}
