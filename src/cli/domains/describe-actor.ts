/** The author of a change, in one line. */
import type { DataOf } from '#contract/operations.ts';

type Actor = Pick<DataOf<'audit.get'>, 'actor' | 'actor_name' | 'token_id' | 'person_id'>;

export function describeActor({ actor, actor_name, token_id, person_id }: Actor): string {
  const name = actor_name === '' ? '' : JSON.stringify(actor_name);
  return [actor, token_id, person_id, name, actor === 'local' ? '(unverified)' : ''].filter(Boolean).join(' ');
}
