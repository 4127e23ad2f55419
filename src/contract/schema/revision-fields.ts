/** The revision of a domain's settings: shown by every reading, and a condition of every write. docs/decisions/0446 */
import * as z from 'zod';
import { clearable, integer } from './fields.ts';

export const IF_REVISION = {
  // Refused when it is empty: a condition that its caller failed to fill in must not count as none.
  if_revision: clearable({
    ...integer(0, Number.MAX_SAFE_INTEGER),
    expects: {
      'zh-CN': '整数，即查询操作给出的 revision；配置的版本与此不同时拒绝修改',
      en: 'an integer, the revision that the reading operations return; the change is refused if the settings have another one',
    },
  }),
};

export const REVISION_DATA = {
  revision: z.string().describe("revision of the domain's settings, for if_revision"),
};

export const SAMPLE_REVISION = '17';

const SMS_REVISION = {
  'zh-CN': '整数，即查询操作给出的 revision，0 表示尚不存在；当前的 revision 与此不同时拒绝修改',
  en: 'an integer, the revision that the listing operation returns, or 0: it does not exist yet; the change is refused if it has another one',
};

/** Conditions of connectors and routes. docs/decisions/0469 */
export const SMS_IF_REVISION = {
  if_revision: clearable({ ...integer(0, Number.MAX_SAFE_INTEGER), expects: SMS_REVISION }),
};

export const SMS_REVISION_DATA = { revision: z.string().describe('changes with each change, for if_revision') };
