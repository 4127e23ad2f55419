/** What an error says of the value that a field had: enough to find it in the request, never all of a long one. */
import type { Localized } from './locale.ts';

/** What a short quotation in an answer may be. */
const MAX_QUOTED_LENGTH = 80;

const UTF8 = new TextEncoder();

/** Completes "expected …; found …". A secret is not shown, however short. */
export function describeFound(value: unknown, isSecret = false): Localized {
  if (typeof value === 'string') return describeText(value, isSecret);
  if (Array.isArray(value)) return describeCount(value.length);
  if (typeof value === 'object' && value !== null) return { 'zh-CN': '一个对象', en: 'an object' };
  return same(String(value));
}

/** Cut short: it is shown in an answer. */
export function quote(text: string): string {
  return JSON.stringify(text.length > MAX_QUOTED_LENGTH ? `${text.slice(0, MAX_QUOTED_LENGTH).toWellFormed()}…` : text);
}

function describeText(text: string, isSecret: boolean): Localized {
  if (text === '') return { 'zh-CN': '空文本', en: 'an empty text' };
  if (text.length <= MAX_QUOTED_LENGTH && !isSecret) return same(quote(text));
  const bytes = UTF8.encode(text).length;
  return {
    'zh-CN': `${text.length} 个字符的文本（UTF-8 编码后 ${bytes} 字节）`,
    en: `a text of ${text.length} characters (${bytes} bytes in UTF-8)`,
  };
}

/** Describes a number of entries. */
export function describeCount(count: number): Localized {
  if (count === 0) return { 'zh-CN': '空列表', en: 'an empty list' };
  return { 'zh-CN': `有 ${count} 项的列表`, en: `a list of ${count}` };
}

function same(text: string): Localized {
  return { 'zh-CN': text, en: text };
}
