/** Fields that operations which list have in common. */
import * as z from 'zod';
import { choice, integer, optional, text } from '../schema/fields.ts';
import { DOMAIN_STATUS_CODES } from './domain-data.ts';

const MAX_PAGE = 1_000_000;
export const MAX_PAGE_SIZE = 100;
/** The longest name DNS has is 253; anything longer is in no name. */
const MAX_NAME_LENGTH = 1024;

export const PAGE_FIELDS = {
  page: optional(integer(1, MAX_PAGE)),
  page_size: optional(integer(1, MAX_PAGE_SIZE)),
};

export const DOMAIN_FILTER_FIELDS = {
  name: optional(text({ max: MAX_NAME_LENGTH })),
  domain_status: optional(
    choice(DOMAIN_STATUS_CODES, {
      'zh-CN': '0（已关闭）、1（配置中）、2（加速中）、5（审核未通过）或 6（已禁用）',
      en: '0 (closed), 1 (being configured), 2 (accelerating), 5 (review rejected) or 6 (disabled)',
    }),
  ),
};

/** Data of a list that is read from `cursor` on, which its `next` is given as. */
export function listWithNext<S extends z.core.$ZodLooseShape>(cursor: 'after' | 'before', shape: S) {
  return z.object({
    list: z.array(z.object(shape)),
    next: z.string().describe(`give it as \`${cursor}\` for what comes next; empty: there is no more`),
  });
}
