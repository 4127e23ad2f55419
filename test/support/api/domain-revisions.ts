/** A domain with earlier settings and events, for samples of the operations that show them. */
import type { RouteName } from '#contract/routes.ts';

type Call = (name: RouteName, request: Record<string, unknown>) => Promise<unknown>;

/** Changes the domain twice. Returns fields of requests: its revisions, and the event of the second change. */
export async function makeRevisions(call: Call, domainId: unknown): Promise<Record<string, unknown>> {
  const change = async (set: Record<string, unknown>) => {
    const answer = await call('domain.change', { domain_id: domainId, set });
    return Object(answer).revision;
  };
  const policy = [{ is_cache: 1, policy_type: 'prefix', policy_scheme: 'http', content: '/api/', time_d: 1 }];
  const first = await change({ policies: { use_header_setting: 0, policy } });
  const second = await change({ advanced: { expires: 5 } });
  const { list } = Object(await call('audit.list', { target_kind: 'domain', target_id: String(domainId) }));
  return {
    ...{ revision: first, from_revision: first, to_revision: first, if_revision: second },
    ...{ target_id: String(domainId), event_id: list[0].event_id },
  };
}
