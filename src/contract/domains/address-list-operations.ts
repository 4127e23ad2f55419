/** Lists of addresses that an account's domains share, and which of them a domain denies or allows. docs/decisions/0636 */
import * as z from 'zod';
import { ADDRESS_LIST_NAME, MAX_ADDRESS_LISTS, MAX_DOMAIN_LISTS, MAX_LISTED_ADDRESSES } from '../../model/limits.ts';
import { clearable, commaList, matching } from '../schema/fields.ts';
import type { Localized } from '../schema/locale.ts';
import { operation, request } from '../schema/operation.ts';
import { changesSettings, readsSettings, SUCCEEDED } from '../settings/domain-settings.ts';

const MAX_ADDRESS_LENGTH = 64;
const MAX_NAME_LENGTH = 64;

const listName = matching(ADDRESS_LIST_NAME, {
  'zh-CN': `1 到 ${MAX_NAME_LENGTH} 个小写字母、数字或中间的连字符`,
  en: `1 to ${MAX_NAME_LENGTH} lower-case letters, digits or inner hyphens`,
});

export const LISTED_ADDRESSES = commaList({
  maxEntries: MAX_LISTED_ADDRESSES,
  maxLength: MAX_ADDRESS_LENGTH,
  expects: {
    'zh-CN': `至多 ${MAX_LISTED_ADDRESSES} 个 IP 或网段（如 192.0.2.0/24），用逗号分隔或为数组；可以为空`,
    en: `at most ${MAX_LISTED_ADDRESSES} IP addresses or networks such as 192.0.2.0/24, comma-separated or an array; may be empty`,
  },
  each: {
    'zh-CN': 'IP 或网段，如 192.0.2.1、192.0.2.0/24、2001:db8::/32',
    en: 'an IP address or a network, such as 192.0.2.1, 192.0.2.0/24 or 2001:db8::/32',
  },
});

const LIST_DATA = {
  name: z.string(),
  domains: z.array(z.string()).describe('domains that use it'),
  changed_time: z.string().describe("YYYY-MM-DD HH:MM:SS in the service's time zone"),
};

const LIST_SAMPLE = { name: 'office', domains: ['www.example.com'], changed_time: '2026-01-31 12:00:00' };

export const ADDRESS_LIST_OPERATIONS = {
  'addressList.list': operation({
    summary: { 'zh-CN': '查询地址列表', en: "Lists the account's lists of addresses" },
    request: request({}),
    data: z.object({
      list: z
        .array(z.object({ ...LIST_DATA, addresses: z.int().describe('number of addresses and networks') }))
        .describe(`by name, at most ${MAX_ADDRESS_LISTS}`),
    }),
    sample: { request: {}, data: { list: [{ ...LIST_SAMPLE, addresses: 2 }] } },
  }),
  'addressList.get': operation({
    summary: { 'zh-CN': '查询一个地址列表的内容', en: 'Gets a list of addresses' },
    request: request({ name: listName }),
    data: z.object({ ...LIST_DATA, addresses: z.array(z.string()).describe('addresses and networks') }),
    sample: {
      request: { name: 'office' },
      data: { ...LIST_SAMPLE, addresses: ['192.0.2.1', '2001:db8::/32'] },
    },
  }),
  'addressList.set': operation({
    summary: {
      'zh-CN': '添加地址列表，或替换其内容；使用它的域名随即生效',
      en: 'Adds a list of addresses, or replaces its addresses, for all domains that use it',
    },
    request: request({ name: listName, addresses: LISTED_ADDRESSES }),
    data: SUCCEEDED,
    sample: { request: { name: 'office', addresses: ['192.0.2.1', '2001:db8::/32'] }, data: true },
  }),
  'addressList.delete': operation({
    summary: { 'zh-CN': '删除没有域名使用的地址列表', en: 'Deletes a list of addresses that no domain uses' },
    request: request({ name: listName }),
    data: SUCCEEDED,
    sample: { request: { name: 'office' }, data: true },
  }),
  'config.setAddressLists': changesSettings(
    { 'zh-CN': '设置域名拒绝和允许的地址列表', en: 'Sets which lists of addresses a domain denies and allows' },
    { deny: clearable(namesOf('拒绝', 'denied')), allow: clearable(namesOf('允许', 'allowed')) },
    { deny: ['scrapers'], allow: ['office', 'partners'] },
  ),
  'config.getAddressLists': readsSettings(
    { 'zh-CN': '查询域名拒绝和允许的地址列表', en: 'Gets which lists of addresses a domain denies and allows' },
    {
      deny: z.array(z.string()).describe('clients on any of these lists are refused'),
      allow: z.array(z.string()).describe('clients on none of these lists are refused; empty: all others are let in'),
    },
    { deny: ['scrapers'], allow: ['office', 'partners'] },
  ),
};

function namesOf(zh: string, en: string) {
  const expects: Localized = {
    'zh-CN': `至多 ${MAX_DOMAIN_LISTS} 个被${zh}的地址列表的名称，用逗号分隔或为数组；空表示没有`,
    en: `names of at most ${MAX_DOMAIN_LISTS} ${en} address lists, comma-separated or an array; empty for none`,
  };
  const list = commaList({ maxEntries: MAX_DOMAIN_LISTS, maxLength: MAX_NAME_LENGTH, expects, each: listName.expects });
  return { ...list, schema: list.schema.refine((names) => names.every((name) => ADDRESS_LIST_NAME.test(name))) };
}
