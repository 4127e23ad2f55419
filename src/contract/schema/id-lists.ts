/** Lists of ids in requests. */
import * as z from 'zod';
import { MAX_ID } from '../../model/limits.ts';
import { commaList, identifier } from './fields.ts';

export const MAX_DOMAIN_IDS = 100;
const MAX_ID_LENGTH = 10;

const ID = z
  .string()
  .regex(/^[1-9]\d*$/)
  .transform(Number)
  .pipe(z.int().max(MAX_ID));

const ID_LIST = commaList({
  maxEntries: MAX_DOMAIN_IDS,
  maxLength: MAX_ID_LENGTH,
  expects: {
    'zh-CN': `1 到 ${MAX_DOMAIN_IDS} 个域名 id，用逗号分隔或为数组`,
    en: `1 to ${MAX_DOMAIN_IDS} ids of domains, comma-separated or an array`,
  },
  each: identifier.expects,
});

export const domainIds = {
  ...ID_LIST,
  schema: ID_LIST.schema
    .pipe(z.array(ID))
    .transform((list) => [...new Set(list)])
    .refine((list) => list.length > 0),
};
