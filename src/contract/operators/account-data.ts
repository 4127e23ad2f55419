/** An account as operators see it. */
import * as z from 'zod';
import { FLAG_TEXT } from '../schema/fields.ts';

export const ACCOUNT_KINDS = ['customer', 'operator'] as const;

export const ACCOUNT_DATA = z
  .object({
    account_id: z.string(),
    name: z.string(),
    kind: z.enum(ACCOUNT_KINDS),
    create_time: z.string().describe('YYYY-MM-DD HH:MM:SS'),
    enabled: FLAG_TEXT.describe('0: its tokens are refused'),
    domains: z.int(),
    apps: z.int().describe('SMS services'),
    tokens: z.int().describe('access tokens that are not revoked'),
    balance: z.int().optional().describe('amount in the smallest unit; only for callers with the access `money`'),
  })
  .meta({ id: 'Account' });

export const SAMPLE_ACCOUNT = {
  account_id: '2',
  name: 'Example Media',
  kind: 'customer',
  create_time: '2026-01-31 12:00:00',
  enabled: '1',
  domains: 12,
  apps: 1,
  tokens: 2,
  balance: 1000,
} as const;
