/** Everything that needs attention, as far as the session may see it. */
import type { Load, Problem } from '../../components/load.ts';
import { useRead, useReads } from '../../queries.ts';
import { useSession } from '../../services.tsx';
import {
  EVENT_KINDS,
  type Matter,
  ofCertificates,
  ofDeliveries,
  ofDomains,
  ofEdges,
  ofEvents,
  ofLimits,
  ofPropagation,
} from './attention-of.ts';

const EVERY_MS = 60_000;
const SHOWN = 100;
/** Domains under change, and services with a webhook, of which each is asked for by itself. */
const ASKED_EACH = 5;

export interface Matters {
  /** All has been read, or has failed. */
  readonly isKnown: boolean;
  readonly matters: readonly Matter[];
  /** Why some of it could not be read. */
  readonly problem: Problem | undefined;
}

export function useMatters(): Matters {
  const { scopes, access } = useSession();
  const every = { everyMs: EVERY_MS };
  const domains = useRead('domain.listBrief', { statuses: ['1', '5', '6'], page_size: SHOWN }, every);
  const changing = dataOf(domains)?.list.filter(({ domain_status }) => String(domain_status) === '1') ?? [];
  const asked = changing.slice(0, ASKED_EACH);
  const propagations = useReads(
    'domain.propagation',
    asked.map(({ domain_id }) => ({ domain_id })),
  );
  const certificates = useRead('certificate.list', { page: 1, page_size: SHOWN }, every);
  const limits = useRead('account.getLimits', {}, every);
  const events = useRead('event.list', { kinds: [...EVENT_KINDS], page_size: SHOWN }, every);
  const edges = useRead('edgeOperator.status', {}, { ...every, isEnabled: scopes.includes('operator') });
  const mayPost = scopes.includes('sms') && access.includes('write');
  const apps = useRead('sms.listApps', {}, { isEnabled: mayPost });
  const posting = (dataOf(apps)?.list ?? []).filter(({ has_webhook }) => has_webhook === '1').slice(0, ASKED_EACH);
  const deliveries = useReads(
    'sms.listDeliveries',
    posting.map(({ app_key }) => ({ app_key })),
  );
  const now = Date.now();
  const needed = [domains, certificates, limits, events];
  return {
    isKnown: needed.every(({ kind }) => kind !== 'loading'),
    problem: needed.flatMap(problemsOf)[0],
    matters: [
      ...of(edges, ofEdges),
      ...of(domains, ({ list }) => ofDomains(list)),
      ...asked.flatMap((domain, n) => of(propagations[n], (data) => ofPropagation(domain, data))),
      ...of(certificates, (list) => ofCertificates(list, now)),
      ...of(events, ({ list }) => ofEvents(list)),
      ...of(limits, ofLimits),
      ...posting.flatMap(({ name }, n) => of(deliveries[n], (data) => ofDeliveries(name, data))),
    ],
  };
}

function dataOf<T>(load: Load<T> | undefined): T | undefined {
  return load?.kind === 'ready' ? load.data : undefined;
}

function of<T>(load: Load<T> | undefined, read: (data: T) => readonly Matter[]): readonly Matter[] {
  const data = dataOf(load);
  return data === undefined ? [] : read(data);
}

/** What the session may not read is nothing that it has to attend to. */
function problemsOf(load: Load<unknown>): readonly Problem[] {
  return load.kind === 'failed' && load.problem.kind !== 'forbidden' ? [load.problem] : [];
}
