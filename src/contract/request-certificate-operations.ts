/** What the operations of certificates that the service obtains take and give. docs/decisions/0190 */
import * as z from 'zod';
import { identifier } from './fields.ts';
import { operation, request } from './operation.ts';
import { IF_REVISION } from './revision-fields.ts';

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
      en: 'Obtains a certificate for a domain, gives it to the domain, and renews it',
    },
    request: request({ domain_id: identifier, ...IF_REVISION }),
    data: z.boolean().describe('true when it is asked for'),
    sample: { request: { domain_id: '1001' }, data: true },
  }),
  'config.getCertificateRequest': operation({
    summary: { 'zh-CN': '查询域名证书的申请', en: "Gets what has become of a domain's requested certificate" },
    request: request({ domain_id: identifier }),
    data: z.object({
      state: z.enum(REQUEST_STATES).describe('how far it has come; none: it was not asked for, or has ended'),
      state_name: z.string().describe('state as a localised label'),
      problem: z.enum(CERTIFICATE_REQUEST_PROBLEMS).or(z.literal('')).describe('what went wrong last, or holds it up'),
      problem_name: z.string().describe('problem as a localised label'),
      detail: z
        .string()
        .describe('what the certificate authority says of it, or which limit of this service holds it up'),
      ssl_key: z.string().describe('the certificate that came of it last'),
      request_time: z.string().describe('when it was asked for'),
      next_time: z
        .string()
        .describe('when it is renewed, or tried again; empty while nothing holds it up, and when it is given up'),
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
