/** What operators see and set of groups of edges, and of the groups that serve a domain. */
import * as z from 'zod';
import { GROUP_NAME, MAX_DOMAIN_GROUPS, MAX_GROUP_CHARS } from '../../model/edge-group.ts';
import { commaList, flag, identifier } from '../schema/fields.ts';
import { operation, request } from '../schema/operation.ts';
import { groupName, parentGroup } from './edge-fields.ts';

const GROUP_LIST = commaList({
  maxEntries: MAX_DOMAIN_GROUPS,
  maxLength: MAX_GROUP_CHARS,
  expects: {
    'zh-CN': `至多 ${MAX_DOMAIN_GROUPS} 个节点组，用逗号分隔或为数组；空：由默认组服务`,
    en: `at most ${MAX_DOMAIN_GROUPS} edge groups, comma-separated or an array; empty: the default groups serve the domain`,
  },
  each: groupName.expects,
});
const groupList = {
  ...GROUP_LIST,
  schema: GROUP_LIST.schema.refine((names) => names.every((name) => GROUP_NAME.test(name))),
};

const GROUP_DATA = z.object({
  name: z.string(),
  default: z.enum(['0', '1']).describe('1: it serves domains without groups of their own'),
  parent: z.string().describe('group that its edges fetch through; empty: they fetch from origins'),
  domains: z.int().describe('number of domains that have it among their own groups'),
  edges: z.int().describe('number of enrolled edges in it'),
});

const DOMAIN_GROUPS = z.object({
  groups: z.array(z.string()).describe("the domain's own groups; empty: the default ones serve it"),
});

export const GROUP_OPERATIONS = {
  'groupOperator.list': operation({
    summary: { 'zh-CN': '查询节点组', en: 'Lists the groups of edges' },
    request: request({}),
    data: z.object({ list: z.array(GROUP_DATA) }),
    sample: { request: {}, data: { list: [{ name: 'default', default: '1', parent: 'core', domains: 0, edges: 2 }] } },
  }),
  'groupOperator.set': operation({
    summary: {
      'zh-CN': '添加节点组，或设置其是否为默认组、通过哪个组回源；所服务的域名整体变化时，节点重新获取全部配置',
      en: 'Adds a group of edges, or sets whether it is a default one, and which group its edges fetch through; edges whose set of domains changes by that fetch all settings anew',
    },
    request: request({ name: groupName, default: flag, parent: parentGroup }),
    data: z.boolean(),
    sample: { request: { name: 'eu', default: '0' }, data: true },
  }),
  'groupOperator.getDomain': operation({
    summary: { 'zh-CN': '查询为域名服务的节点组', en: 'Reads which groups of edges serve a domain' },
    request: request({ account_id: identifier, domain_id: identifier }),
    data: DOMAIN_GROUPS,
    sample: { request: { account_id: '2', domain_id: '1001' }, data: { groups: ['default'] } },
  }),
  'groupOperator.setDomain': operation({
    summary: { 'zh-CN': '设置为域名服务的节点组', en: 'Sets which groups of edges serve a domain' },
    request: request({ account_id: identifier, domain_id: identifier, groups: groupList }),
    data: z.boolean(),
    sample: { request: { account_id: '2', domain_id: '1001', groups: ['default'] }, data: true },
  }),
  'groupOperator.remove': operation({
    summary: {
      'zh-CN': '删除没有节点和域名的节点组',
      en: 'Removes a group of edges that has no edges and no domains of its own',
    },
    request: request({ name: groupName }),
    data: z.boolean(),
    sample: { request: { name: 'eu' }, data: true },
  }),
};
