/** Joins each route to its request and its data. A missing or an extra entry does not compile. */
import type * as z from 'zod';
import { ACCESS_OPERATIONS } from './access-operations.ts';
import { ACCOUNT_OPERATIONS } from './account-operations.ts';
import { ADD_DOMAIN_OPERATION } from './add-domain-operation.ts';
import { ADDRESS_LIST_OPERATIONS } from './address-list-operations.ts';
import { ADVANCED_OPERATIONS } from './advanced-operations.ts';
import { AUDIT_OPERATIONS } from './audit-operations.ts';
import { CACHE_OPERATIONS } from './cache-operations.ts';
import { CERTIFICATE_OPERATIONS } from './certificate-operations.ts';
import { CHECK_OPERATIONS, TAIL_OPERATIONS } from './check-operations.ts';
import { CONFIG_OPERATIONS } from './config-operations.ts';
import { DOMAIN_CHANGE_OPERATIONS } from './domain-change-operations.ts';
import { DOMAIN_OPERATIONS } from './domain-operations.ts';
import { EDGE_OPERATOR_OPERATIONS } from './edge-operator-operations.ts';
import { EVENT_OPERATIONS } from './event-operations.ts';
import { FLEET_OPERATOR_OPERATIONS } from './fleet-operator-operations.ts';
import { GROUP_OPERATIONS } from './group-operations.ts';
import { LIVE_OPERATIONS } from './live-operations.ts';
import { LIVE_OPERATOR_OPERATIONS } from './live-operator-operations.ts';
import type { Operation } from './operation.ts';
import { OPERATOR_OPERATIONS } from './operator-operations.ts';
import { POLICY_OPERATIONS } from './policy-operations.ts';
import { REQUEST_CERTIFICATE_OPERATIONS } from './request-certificate-operations.ts';
import type { RouteName } from './routes.ts';
import { RULE_OPERATIONS } from './rule-operations.ts';
import { SIGNING_OPERATIONS } from './signing-operations.ts';
import { SMS_OPERATIONS } from './sms-operations.ts';
import { SMS_OPERATOR_OPERATIONS } from './sms-operator-operations.ts';
import { TOKEN_OPERATIONS } from './token-operations.ts';
import { TRAFFIC_OPERATIONS } from './traffic-operations.ts';

const OPERATION_TABLE = {
  ...DOMAIN_OPERATIONS,
  ...ADD_DOMAIN_OPERATION,
  ...DOMAIN_CHANGE_OPERATIONS,
  ...CHECK_OPERATIONS,
  ...POLICY_OPERATIONS,
  ...ADVANCED_OPERATIONS,
  ...ACCESS_OPERATIONS,
  ...CONFIG_OPERATIONS,
  ...RULE_OPERATIONS,
  ...ADDRESS_LIST_OPERATIONS,
  ...SIGNING_OPERATIONS,
  ...CERTIFICATE_OPERATIONS,
  ...REQUEST_CERTIFICATE_OPERATIONS,
  ...CACHE_OPERATIONS,
  ...TRAFFIC_OPERATIONS,
  ...EVENT_OPERATIONS,
  ...TAIL_OPERATIONS,
  ...LIVE_OPERATIONS,
  ...AUDIT_OPERATIONS,
  ...SMS_OPERATIONS,
  ...TOKEN_OPERATIONS,
  ...ACCOUNT_OPERATIONS,
  ...OPERATOR_OPERATIONS,
  ...EDGE_OPERATOR_OPERATIONS,
  ...FLEET_OPERATOR_OPERATIONS,
  ...LIVE_OPERATOR_OPERATIONS,
  ...GROUP_OPERATIONS,
  ...SMS_OPERATOR_OPERATIONS,
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
