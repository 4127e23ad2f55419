/** Warnings about a domain's origins: their codes, and their texts in both languages. */
import * as z from 'zod';
import type { Locale, Localized } from '../schema/locale.ts';

export const ORIGIN_WARNING_CODES = ['originPrivate', 'originForbidden', 'originDown'] as const;

type Code = (typeof ORIGIN_WARNING_CODES)[number];

export const ORIGIN_WARNINGS = z
  .array(
    z
      .object({
        code: z.enum(ORIGIN_WARNING_CODES).describe('why edges cannot use the origin'),
        text: z.string().describe('the same as a localised sentence'),
      })
      .meta({ id: 'OriginWarning' }),
  )
  .optional()
  .describe('extension: why edges cannot use origins; absent if no reason is known');

/** `{name}` stands for a value that comes with the warning. */
const TEXTS: Readonly<Record<Code, Localized>> = {
  originPrivate: {
    'zh-CN': '源站 {origin} 不是公网地址，节点会拒绝连接；如需使用，请运营者在 origin-allow 中放行该网段',
    en: 'origin {origin} is not a public address, and edges refuse to connect to it unless the operator opens its network with origin-allow',
  },
  originForbidden: {
    'zh-CN':
      '节点 {edge} 拒绝连接源站 {origin}，因为其地址均非公网地址；如需使用，请运营者在 origin-allow 中放行该网段',
    en: 'edge {edge} refuses to connect to origin {origin}, which has no public address; the operator can open its network with origin-allow',
  },
  originDown: {
    'zh-CN': '节点 {edge} 探测不到源站 {origin}',
    en: 'origin {origin} does not answer the probes of edge {edge}',
  },
};

/** The sentence for a warning. */
export function describeOriginWarning(
  { code, ...values }: { readonly code: Code; readonly origin: string; readonly edge?: string },
  locale: Locale,
): string {
  return TEXTS[code][locale].replace('{origin}', values.origin).replace('{edge}', values.edge ?? '');
}
