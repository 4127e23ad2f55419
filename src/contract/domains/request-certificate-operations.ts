/** What the operations of certificates that the service obtains take and give. docs/decisions/0190 */
import * as z from 'zod';
import { identifier } from '../schema/fields.ts';
import { operation, request } from '../schema/operation.ts';
import { IF_REVISION } from '../schema/revision-fields.ts';

export const REQUEST_STATES = ['none', 'pending', 'challenged', 'issued', 'failed'] as const;

export const CERTIFICATE_REQUEST_PROBLEMS = [
  'unreachable',
  'refused',
  'limited',
  'validation',
  'edges',
  'expired',
  'unusable',
  'accountFull',
  'replaced',
] as const;

export const REQUEST_CERTIFICATE_OPERATIONS = {
  'config.requestCertificate': operation({
    summary: {
      'zh-CN': '为域名申请证书，并自动续期',
      en: 'Obtains a certificate for a domain, binds it, and renews it',
    },
    request: request({ domain_id: identifier, ...IF_REVISION }),
    data: z.boolean().describe('true: it is requested'),
    sample: { request: { domain_id: '1001' }, data: true },
  }),
  'config.getCertificateRequest': operation({
    summary: { 'zh-CN': '查询域名证书的申请', en: "Gets the state of a domain's certificate request" },
    request: request({ domain_id: identifier }),
    data: z.object({
      state: z.enum(REQUEST_STATES).describe('state of the request; none: never requested, or ended'),
      state_name: z.string().describe('state as a localised label'),
      problem: z.enum(CERTIFICATE_REQUEST_PROBLEMS).or(z.literal('')).describe('the last problem, or what delays it'),
      problem_name: z.string().describe('problem as a localised label'),
      detail: z.string().describe("the certificate authority's message, or the limit of this service that delays it"),
      ssl_key: z.string().describe('the certificate that was issued last'),
      request_time: z.string().describe('when it was requested'),
      next_time: z
        .string()
        .describe('when it is renewed, or tried again; empty while it proceeds, and once it is given up'),
    }),
    sample: {
      request: { domain_id: '1001' },
      data: {
        state: 'issued',
        state_name: '已签发',
        problem: '',
        problem_name: '',
        detail: '',
        ssl_key: '5f0c1d2e3a4b5c6d7e8f90a1b2c3d4e5',
        request_time: '2026-01-31 12:00:00',
        next_time: '2026-03-30 21:14:07',
      },
    },
  }),
};
