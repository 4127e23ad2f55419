/** The two fields of a rule that is about paths, as cache policies have them. `sites/policy.ts` checks the path. */
import * as z from 'zod';
import { choice, text } from '../schema/fields.ts';
import { MAX_CONTENT_LENGTH, PATH_TYPES, PATH_TYPES_EXPECTED } from './policy-operations.ts';

export const PATH_FIELDS = {
  path_type: choice(PATH_TYPES, PATH_TYPES_EXPECTED),
  path: {
    ...text({ min: 1, max: MAX_CONTENT_LENGTH }),
    expects: {
      'zh-CN': `1 到 ${MAX_CONTENT_LENGTH} 个字符：以 / 开头的目录、后缀或正则表达式，依 path_type 而定`,
      en: `1 to ${MAX_CONTENT_LENGTH} characters: a directory that begins with /, endings or a regular expression, as path_type says`,
    },
  },
};

export const PATH_DATA = {
  path_type: z.enum(PATH_TYPES),
  path: z.string().describe('what to match'),
};
