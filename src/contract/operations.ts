/** Joins each route to its request and its data. A missing or an extra entry does not compile. */
import type * as z from 'zod';
import { ADD_DOMAIN_OPERATION } from './changes/add-domain-operation.ts';
import { AUDIT_OPERATIONS } from './changes/audit-operations.ts';
import { BULK_OPERATIONS } from './changes/bulk-operations.ts';
import { DOMAIN_CHANGE_OPERATIONS } from './changes/domain-change-operations.ts';
import { EXPLAIN_OPERATION } from './changes/explain-operation.ts';
import { ACCESS_OPERATIONS } from './domains/access-operations.ts';
import { ADDRESS_LIST_OPERATIONS } from './domains/address-list-operations.ts';
import { ADVANCED_OPERATIONS } from './domains/advanced-operations.ts';
import { BANDWIDTH_OPERATIONS } from './domains/bandwidth-operations.ts';
import { CACHE_OPERATIONS } from './domains/cache-operations.ts';
import { CERTIFICATE_OPERATIONS } from './domains/certificate-operations.ts';
import { CERTIFICATE_VIEW_OPERATIONS } from './domains/certificate-view-operations.ts';
import { CHECK_OPERATIONS, PROBE_OPERATIONS, TAIL_OPERATIONS } from './domains/check-operations.ts';
import { CONFIG_OPERATIONS } from './domains/config-operations.ts';
import { DOMAIN_OPERATIONS } from './domains/domain-operations.ts';
import { DOMAIN_VIEW_OPERATIONS } from './domains/domain-view-operations.ts';
import { LOG_SEARCH_OPERATIONS } from './domains/log-search-operations.ts';
import { POLICY_OPERATIONS } from './domains/policy-operations.ts';
import { REQUEST_CERTIFICATE_OPERATIONS } from './domains/request-certificate-operations.ts';
import { RULE_OPERATIONS } from './domains/rule-operations.ts';
import { SERIES_OPERATIONS } from './domains/series-operations.ts';
import { SIGNING_OPERATIONS } from './domains/signing-operations.ts';
import { TRAFFIC_OPERATIONS } from './domains/traffic-operations.ts';
import { LIVE_OPERATIONS } from './live/live-operations.ts';
import { LIVE_OPERATOR_OPERATIONS } from './live/live-operator-operations.ts';
import { ACCOUNT_OPERATIONS } from './operators/account-operations.ts';
import { DESK_OPERATIONS } from './operators/desk-operations.ts';
import { EDGE_OPERATOR_OPERATIONS } from './operators/edge-operator-operations.ts';
import { EVENT_OPERATIONS } from './operators/event-operations.ts';
import { FLEET_OPERATOR_OPERATIONS } from './operators/fleet-operator-operations.ts';
import { GROUP_OPERATIONS } from './operators/group-operations.ts';
import { OPERATOR_OPERATIONS } from './operators/operator-operations.ts';
import { SINK_OPERATIONS } from './operators/sink-operations.ts';
import { TOKEN_OPERATIONS } from './operators/token-operations.ts';
import { WATCH_OPERATIONS } from './operators/watch-operations.ts';
import { MEMBER_OPERATIONS, PEOPLE_OPERATOR_OPERATIONS } from './people/member-operations.ts';
import { PERSON_OPERATIONS } from './people/person-operations.ts';
import { SESSION_OPERATIONS } from './people/session-operations.ts';
import type { RouteName } from './routes.ts';
import type { Operation } from './schema/operation.ts';
import { SMS_ACCOUNT_OPERATIONS } from './sms/sms-account-operations.ts';
import { SMS_CONNECTOR_STATE_OPERATIONS } from './sms/sms-connector-state-operations.ts';
import { SMS_OPERATIONS } from './sms/sms-operations.ts';
import { SMS_OPERATOR_OPERATIONS } from './sms/sms-operator-operations.ts';
import { SMS_SEARCH_OPERATIONS } from './sms/sms-search-operations.ts';
import { SMS_WEBHOOK_OPERATIONS } from './sms/sms-webhook-operations.ts';

const OPERATION_TABLE = {
  ...DOMAIN_OPERATIONS,
  ...DOMAIN_VIEW_OPERATIONS,
  ...ADD_DOMAIN_OPERATION,
  ...DOMAIN_CHANGE_OPERATIONS,
  ...BULK_OPERATIONS,
  ...CHECK_OPERATIONS,
  ...EXPLAIN_OPERATION,
  ...PROBE_OPERATIONS,
  ...POLICY_OPERATIONS,
  ...ADVANCED_OPERATIONS,
  ...ACCESS_OPERATIONS,
  ...CONFIG_OPERATIONS,
  ...RULE_OPERATIONS,
  ...ADDRESS_LIST_OPERATIONS,
  ...SIGNING_OPERATIONS,
  ...CERTIFICATE_OPERATIONS,
  ...CERTIFICATE_VIEW_OPERATIONS,
  ...REQUEST_CERTIFICATE_OPERATIONS,
  ...CACHE_OPERATIONS,
  ...TRAFFIC_OPERATIONS,
  ...SERIES_OPERATIONS,
  ...BANDWIDTH_OPERATIONS,
  ...EVENT_OPERATIONS,
  ...WATCH_OPERATIONS,
  ...TAIL_OPERATIONS,
  ...LOG_SEARCH_OPERATIONS,
  ...LIVE_OPERATIONS,
  ...AUDIT_OPERATIONS,
  ...SMS_OPERATIONS,
  ...SMS_SEARCH_OPERATIONS,
  ...SMS_ACCOUNT_OPERATIONS,
  ...SMS_WEBHOOK_OPERATIONS,
  ...SESSION_OPERATIONS,
  ...PERSON_OPERATIONS,
  ...MEMBER_OPERATIONS,
  ...TOKEN_OPERATIONS,
  ...ACCOUNT_OPERATIONS,
  ...OPERATOR_OPERATIONS,
  ...DESK_OPERATIONS,
  ...PEOPLE_OPERATOR_OPERATIONS,
  ...EDGE_OPERATOR_OPERATIONS,
  ...FLEET_OPERATOR_OPERATIONS,
  ...LIVE_OPERATOR_OPERATIONS,
  ...GROUP_OPERATIONS,
  ...SINK_OPERATIONS,
  ...SMS_OPERATOR_OPERATIONS,
  ...SMS_CONNECTOR_STATE_OPERATIONS,
} satisfies Readonly<Record<RouteName, Operation>>;

export type OperationTable = typeof OPERATION_TABLE;

export const OPERATIONS: OperationTable = OPERATION_TABLE satisfies NoneBeside<RouteName, typeof OPERATION_TABLE>;

/** What a caller may send, besides `access_token`. */
export type CallOf<N extends RouteName> = z.input<OperationTable[N]['request']['schema']>;

/** What a handler is given: decoded and checked. */
export type RequestOf<N extends RouteName> = z.output<OperationTable[N]['request']['schema']>;

/** `data` of a successful answer. */
export type DataOf<N extends RouteName> = z.output<OperationTable[N]['data']>;

/**
 * Not satisfied by a table that has a member beside `Names`. The error stays at the table: its own type does not
 * change.
 */
type NoneBeside<Names extends string, T> = { readonly [N in Exclude<keyof T, Names>]: never };
