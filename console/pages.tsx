/**
 * The table of pages: a row makes a page reachable, and shows it in the menu to those whose account has what it needs.
 * Each page's code is loaded when it is opened. README.md says how to add one.
 */
import type { ComponentType } from 'react';
import type { IconName } from './components/icons.ts';
import { lazily } from './lib/lazily.ts';
import {
  ACCOUNT_PATTERN,
  ADD_CERTIFICATE_PATH,
  ADD_DOMAIN_PATH,
  BALANCE_PATH,
  BROADCASTS_PATH,
  CHANGE_DOMAINS_PATH,
  DOMAIN_PATTERN,
  EDGE_PATTERN,
  EDIT_ADDRESS_LIST_PATH,
  EDIT_CONNECTOR_PATH,
  LIVE_DOMAIN_PATTERN,
  MESSAGE_COUNTS_PATH,
  MESSAGE_PATTERN,
  type MenuPage,
  OPT_OUTS_PATH,
  PATHS,
  RECORDINGS_PATH,
  SECURITY_PATTERN,
  SEND_PATH,
  SERVICE_PATTERN,
  STREAM_PATTERN,
} from './routes.ts';
import type { Session } from './services.tsx';
import { lacksSecondFactor } from './session-state.ts';

export interface PageRow {
  /** Pattern of the address, as wouter reads it. */
  readonly path: string;
  readonly show: ComponentType;
  /** Absent: the page is not in the menu. */
  readonly menu?: { readonly page: MenuPage; readonly group: MenuGroup; readonly icon: IconName };
  /** Scope that the account in view needs; absent: any. */
  readonly scope?: Session['scopes'][number];
  /** Access without which the page is not in the menu; absent: any. */
  readonly access?: Session['access'][number];
}

type MenuGroup = 'start' | 'delivery' | 'messaging' | 'account' | 'operator';

const Overview = lazily(async () => (await import('./pages/overview/overview.tsx')).Overview);
const Domains = lazily(async () => (await import('./pages/domains/domains.tsx')).Domains);
const AddDomain = lazily(async () => (await import('./pages/domains/add-domain.tsx')).AddDomain);
const ChangeDomains = lazily(async () => (await import('./pages/domains/change-domains.tsx')).ChangeDomains);
const Domain = lazily(async () => (await import('./pages/domain/domain.tsx')).Domain);
const Purge = lazily(async () => (await import('./pages/purge/purge.tsx')).Purge);
const Certificates = lazily(async () => (await import('./pages/certificates/certificates.tsx')).Certificates);
const AddCertificate = lazily(async () => (await import('./pages/certificates/add-certificate.tsx')).AddCertificate);
const Statistics = lazily(async () => (await import('./pages/statistics/statistics.tsx')).Statistics);
const Logs = lazily(async () => (await import('./pages/logs/logs.tsx')).Logs);
const AddressLists = lazily(async () => (await import('./pages/address-lists/address-lists.tsx')).AddressLists);
const EditAddressList = lazily(
  async () => (await import('./pages/address-lists/edit-address-list.tsx')).EditAddressList,
);
const Messages = lazily(async () => (await import('./pages/messages/messages.tsx')).Messages);
const Message = lazily(async () => (await import('./pages/messages/message.tsx')).Message);
const MessageCounts = lazily(async () => (await import('./pages/messages/message-counts.tsx')).MessageCounts);
const Balance = lazily(async () => (await import('./pages/messages/balance.tsx')).Balance);
const SendMessage = lazily(async () => (await import('./pages/messages/send.tsx')).SendMessage);
const Replies = lazily(async () => (await import('./pages/replies/replies.tsx')).Replies);
const OptOuts = lazily(async () => (await import('./pages/replies/opt-outs.tsx')).OptOuts);
const Services = lazily(async () => (await import('./pages/services/services.tsx')).Services);
const Service = lazily(async () => (await import('./pages/services/service.tsx')).Service);
const Members = lazily(async () => (await import('./pages/members/members.tsx')).Members);
const Tokens = lazily(async () => (await import('./pages/tokens/tokens.tsx')).Tokens);
const Events = lazily(async () => (await import('./pages/events/events.tsx')).Events);
const Security = lazily(async () => (await import('./pages/security/security.tsx')).Security);
const Streams = lazily(async () => (await import('./pages/streams/streams.tsx')).Streams);
const Stream = lazily(async () => (await import('./pages/streams/stream.tsx')).Stream);
const Broadcasts = lazily(async () => (await import('./pages/streams/broadcasts.tsx')).Broadcasts);
const Recordings = lazily(async () => (await import('./pages/streams/recordings.tsx')).Recordings);
const AllStreams = lazily(async () => (await import('./pages/streams/all-streams.tsx')).AllStreams);
const LiveDomain = lazily(async () => (await import('./pages/streams/live-domain.tsx')).LiveDomain);
const Audit = lazily(async () => (await import('./pages/audit/audit.tsx')).Audit);
const Accounts = lazily(async () => (await import('./pages/operator/accounts/accounts.tsx')).Accounts);
const Account = lazily(async () => (await import('./pages/operator/accounts/account.tsx')).Account);
const Review = lazily(async () => (await import('./pages/operator/review/review.tsx')).Review);
const Edges = lazily(async () => (await import('./pages/operator/edges/edges.tsx')).Edges);
const Edge = lazily(async () => (await import('./pages/operator/edges/edge.tsx')).Edge);
const Connectors = lazily(async () => (await import('./pages/operator/connectors/connectors.tsx')).Connectors);
const EditConnector = lazily(
  async () => (await import('./pages/operator/connectors/edit-connector.tsx')).EditConnector,
);
const Health = lazily(async () => (await import('./pages/operator/health/health.tsx')).Health);
const AllDomains = lazily(async () => (await import('./pages/operator/accounts/all-domains.tsx')).AllDomains);
const People = lazily(async () => (await import('./pages/operator/people/people.tsx')).People);
const AllAudit = lazily(async () => (await import('./pages/audit/all-audit.tsx')).AllAudit);

const PAGES: readonly PageRow[] = [
  inMenu('overview', 'start', { show: Overview, scope: 'cdn' }),
  inMenu('domains', 'delivery', { show: Domains, scope: 'cdn' }),
  { path: ADD_DOMAIN_PATH, show: AddDomain, scope: 'cdn' },
  { path: CHANGE_DOMAINS_PATH, show: ChangeDomains, scope: 'cdn' },
  { path: DOMAIN_PATTERN, show: Domain, scope: 'cdn' },
  inMenu('purge', 'delivery', { show: Purge, scope: 'cdn' }),
  inMenu('certificates', 'delivery', { show: Certificates, scope: 'cdn' }),
  { path: ADD_CERTIFICATE_PATH, show: AddCertificate, scope: 'cdn' },
  inMenu('statistics', 'delivery', { show: Statistics, scope: 'cdn' }),
  inMenu('logs', 'delivery', { show: Logs, scope: 'cdn' }),
  inMenu('streams', 'delivery', { show: Streams, scope: 'cdn' }),
  { path: BROADCASTS_PATH, show: Broadcasts, scope: 'cdn' },
  { path: RECORDINGS_PATH, show: Recordings, scope: 'cdn' },
  { path: STREAM_PATTERN, show: Stream, scope: 'cdn' },
  inMenu('addressLists', 'delivery', { show: AddressLists, scope: 'cdn' }),
  { path: EDIT_ADDRESS_LIST_PATH, show: EditAddressList, scope: 'cdn' },
  inMenu('messages', 'messaging', { show: Messages, scope: 'sms' }),
  { path: SEND_PATH, show: SendMessage, scope: 'sms' },
  { path: MESSAGE_COUNTS_PATH, show: MessageCounts, scope: 'sms' },
  { path: BALANCE_PATH, show: Balance, scope: 'sms' },
  { path: MESSAGE_PATTERN, show: Message, scope: 'sms' },
  inMenu('replies', 'messaging', { show: Replies, scope: 'sms' }),
  { path: OPT_OUTS_PATH, show: OptOuts, scope: 'sms' },
  inMenu('services', 'messaging', { show: Services, scope: 'sms' }),
  { path: SERVICE_PATTERN, show: Service, scope: 'sms' },
  inMenu('members', 'account', { show: Members, access: 'manage' }),
  inMenu('tokens', 'account', { show: Tokens, access: 'manage' }),
  inMenu('events', 'account', { show: Events, scope: 'cdn' }),
  inMenu('audit', 'account', { show: Audit, scope: 'cdn' }),
  inMenu('security', 'account', { show: Security, path: SECURITY_PATTERN }),
  inMenu('accounts', 'operator', { show: Accounts, scope: 'operator' }),
  { path: ACCOUNT_PATTERN, show: Account, scope: 'operator' },
  inMenu('review', 'operator', { show: Review, scope: 'operator' }),
  inMenu('edges', 'operator', { show: Edges, scope: 'operator' }),
  { path: EDGE_PATTERN, show: Edge, scope: 'operator' },
  inMenu('connectors', 'operator', { show: Connectors, scope: 'operator' }),
  { path: EDIT_CONNECTOR_PATH, show: EditConnector, scope: 'operator' },
  inMenu('health', 'operator', { show: Health, scope: 'operator' }),
  inMenu('allStreams', 'operator', { show: AllStreams, scope: 'operator' }),
  { path: LIVE_DOMAIN_PATTERN, show: LiveDomain, scope: 'operator' },
  inMenu('allDomains', 'operator', { show: AllDomains, scope: 'operator' }),
  inMenu('people', 'operator', { show: People, scope: 'operator', access: 'manage' }),
  inMenu('allAudit', 'operator', { show: AllAudit, scope: 'operator' }),
];

/** Rows that the session reaches: without the second factor that its account asks for, there it is set up. */
export function pagesOf(session: Session): readonly PageRow[] {
  if (lacksSecondFactor(session)) return PAGES.filter(({ show }) => show === Security);
  return PAGES.filter(({ scope }) => scope === undefined || session.scopes.includes(scope));
}

/** Rows of the menu that the session sees, in their groups. */
export function menuOf(session: Session) {
  return pagesOf(session)
    .filter(({ access }) => access === undefined || session.access.includes(access))
    .flatMap(({ menu }) => menu ?? []);
}

/** `path`: with parts of its own. */
function inMenu(name: MenuPage, group: MenuGroup, row: Partial<PageRow> & Pick<PageRow, 'show'>): PageRow {
  return { path: PATHS[name], menu: { page: name, group, icon: iconOf(name) }, ...row };
}

/** Most icons have the page's name. */
function iconOf(page: MenuPage): IconName {
  switch (page) {
    case 'allAudit':
      return 'audit';
    case 'allDomains':
      return 'domains';
    case 'allStreams':
      return 'streams';
    case 'people':
      return 'members';
    default:
      return page;
  }
}
