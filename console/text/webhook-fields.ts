/** Words of the fields of the form of an events' webhook. */
import { both, type SettingWords, words } from '#contract/changes/setting-words.ts';

export const WEBHOOK_WORDS = {
  url: words(
    '地址',
    'Address',
    'http 或 https 网址；为空则不推送。',
    'An http or https URL; empty: events are posted nowhere.',
  ),
  rotate: {
    ...words('签名密钥', 'Secret'),
    values: { '0': both('保留', 'keep it'), '1': both('更换', 'make a new one') },
  },
} satisfies Readonly<Record<string, SettingWords>>;
