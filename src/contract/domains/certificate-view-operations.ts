/** One certificate with its chain, and the domains that use it. */
import * as z from 'zod';
import { FLAG_TEXT } from '../schema/fields.ts';
import { operation, request } from '../schema/operation.ts';
import { CERTIFICATE_ROW, SAMPLE_CERTIFICATE, sslKey } from './certificate-operations.ts';

export const MAX_SHOWN_DOMAINS = 100;

export const CERTIFICATE_VIEW_OPERATIONS = {
  'certificate.get': operation({
    summary: {
      'zh-CN': '查询证书的详情、证书链与使用它的域名',
      en: 'Shows a certificate with its chain and the domains that use it',
    },
    request: request({ ssl_key: sslKey }),
    data: z.object({
      ...CERTIFICATE_ROW.shape,
      automatic: FLAG_TEXT.describe('1: the service has obtained it, and renews it'),
      chain: z
        .array(
          z.object({
            subject: z.string(),
            issuer: z.string(),
            serial: z.string().describe('serial number, hexadecimal'),
            fingerprint: z.string().describe('SHA-256, hexadecimal with colons'),
            valid_from_at: z.int().describe('Unix milliseconds'),
            valid_to_at: z.int().describe('Unix milliseconds'),
          }),
        )
        .describe('certificates as they are sent to clients, the own one first'),
      used_by: z
        .array(z.object({ domain_id: z.string(), domain_name: z.string() }))
        .describe(`domains that use it, at most ${MAX_SHOWN_DOMAINS}, by name`),
      used_by_total: z.int(),
    }),
    sample: {
      request: { ssl_key: SAMPLE_CERTIFICATE.ssl_key },
      data: {
        ...SAMPLE_CERTIFICATE,
        domains: 1,
        automatic: '0',
        chain: [
          {
            subject: 'CN=example.com',
            issuer: 'C=US, O=Example Trust, CN=R11',
            serial: '04A1B2C3D4',
            fingerprint: 'AA:BB:CC:DD',
            valid_from_at: 1_767_225_600_000,
            valid_to_at: 1_775_001_600_000,
          },
        ],
        used_by: [{ domain_id: '1001', domain_name: 'www.example.com' }],
        used_by_total: 1,
      },
    },
  }),
};
