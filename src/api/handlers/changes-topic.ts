/** Handlers of the operations that change one topic of a domain's settings, and answer nothing. */
import type { SettingTopic } from '#contract/changes/setting-topics.ts';
import { changeTopic } from '../settings/change-topics.ts';
import type { TopicInput } from '../settings/topics.ts';
import type { Call } from './handler.ts';

export function changesTopic<T extends SettingTopic>(topic: T) {
  return async (call: Call, input: TopicInput<T> & { readonly domainId: number }): Promise<undefined> => {
    await changeTopic(call, input.domainId, topic, input);
  };
}
