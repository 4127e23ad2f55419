/** Signed URLs of a domain: which paths need one, for how long it is valid, and the keys. docs/decisions/0637 */
import * as z from 'zod';
import { LIVE_KEY, MAX_RULES, YEAR_SECONDS } from '../../model/limits.ts';
import { clearable, FLAG_TEXT, flag, integer, matching, optional } from '../schema/fields.ts';
import { objectList } from '../schema/members.ts';
import { changesSettings, readsSettings } from '../settings/domain-settings.ts';
import { PATH_DATA, PATH_FIELDS } from './path-fields.ts';

const SAMPLE_PATH = { path_type: 'prefix', path: '/vod/' } as const;

const paths = objectList(PATH_FIELDS, {
  maxEntries: MAX_RULES,
  expects: {
    'zh-CN': `需要签名的路径的数组，至多 ${MAX_RULES} 条；空数组表示所有路径`,
    en: `an array of at most ${MAX_RULES} paths that need a signature; an empty one for all paths`,
  },
  each: { 'zh-CN': 'JSON 对象（一条路径）', en: 'a JSON object, one path' },
});

const key = clearable({
  ...matching(new RegExp(`^$|${LIVE_KEY.source}`), {
    'zh-CN': '16 到 64 个字母或数字；空表示删除',
    en: '16 to 64 letters and digits; empty to remove it',
  }),
  isSecret: true as const,
});

export const SIGNING_OPERATIONS = {
  'config.setUrlSigning': changesSettings(
    { 'zh-CN': '设置网址签名', en: "Sets a domain's signed URLs" },
    {
      sign: flag,
      valid_seconds: optional(integer(0, YEAR_SECONDS)),
      paths: optional(paths),
      primary_key: key,
      secondary_key: key,
    },
    { sign: '1', valid_seconds: 1800, paths: [SAMPLE_PATH], primary_key: 'aliyuncdnexp1234' },
  ),
  'config.getUrlSigning': readsSettings(
    { 'zh-CN': '查询网址签名', en: "Gets a domain's signed URLs" },
    {
      sign: FLAG_TEXT.describe('0 off, 1 on'),
      valid_seconds: z.int().describe('how long a URL is valid after its timestamp'),
      paths: z
        .array(z.object(PATH_DATA).meta({ id: 'SignedPath' }))
        .describe('what needs a signature; empty: everything'),
      has_primary_key: FLAG_TEXT,
      has_secondary_key: FLAG_TEXT,
    },
    { sign: '1', valid_seconds: 1800, paths: [SAMPLE_PATH], has_primary_key: '1', has_secondary_key: '0' },
  ),
};
