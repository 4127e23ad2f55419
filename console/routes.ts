/**
 * Where the console's pages are, below `/console`: what the first load needs. `routes/` builds and parses addresses with
 * their parts and filters, so that no page writes one by hand.
 */

/** Pages of the menu. */
export const PATHS = {
  overview: '/',
  domains: '/domains',
  purge: '/purge',
  certificates: '/certificates',
  statistics: '/statistics',
  logs: '/logs',
  streams: '/streams',
  addressLists: '/address-lists',
  messages: '/messages',
  replies: '/replies',
  services: '/services',
  members: '/members',
  tokens: '/tokens',
  events: '/events',
  audit: '/audit',
  security: '/security',
  accounts: '/operator/accounts',
  review: '/operator/review',
  edges: '/operator/edges',
  connectors: '/operator/connectors',
  health: '/operator/health',
  allStreams: '/operator/streams',
  allDomains: '/operator/domains',
  people: '/operator/people',
  allAudit: '/operator/audit',
} as const;

export type MenuPage = keyof typeof PATHS;

/** The page of a link that is good once, whose secret stands behind `#`. */
export const WELCOME_PATH = '/welcome';
/** Where an identity provider sends the browser back to; the service names it there. */
export const PROVIDER_PATH = '/provider';
export const SECURITY_PATTERN = '/security/:tab?';
export const SECURITY_TABS = ['security', 'sessions'] as const;
export type SecurityTab = (typeof SECURITY_TABS)[number];

export function securityPath(tab: SecurityTab): string {
  return tab === 'security' ? PATHS.security : `${PATHS.security}/${tab}`;
}

/** Pages that are not in the menu. Patterns are as wouter reads them. */
export const ADD_DOMAIN_PATH = '/domains/add';
export const CHANGE_DOMAINS_PATH = '/domains/change';
export const DOMAIN_PATTERN = '/domains/:id/:tab?';
export const ADD_CERTIFICATE_PATH = '/certificates/add';
export const EDIT_ADDRESS_LIST_PATH = '/address-lists/edit';
export const BROADCASTS_PATH = '/streams/broadcasts';
export const RECORDINGS_PATH = '/streams/recordings';
export const STREAM_PATTERN = '/streams/:domain/:app/:stream';
export const LIVE_DOMAIN_PATTERN = '/operator/streams/:domain';
export const SEND_PATH = '/messages/send';
export const MESSAGE_COUNTS_PATH = '/messages/statistics';
export const BALANCE_PATH = '/messages/balance';
export const MESSAGE_PATTERN = '/messages/:sendid/:number';
export const OPT_OUTS_PATH = '/replies/opt-outs';
export const SERVICE_PATTERN = '/services/:key/:tab?';
export const ACCOUNT_PATTERN = '/operator/accounts/:id/:tab?';
export const EDGE_PATTERN = '/operator/edges/:id';
export const EDIT_CONNECTOR_PATH = '/operator/connectors/edit';
