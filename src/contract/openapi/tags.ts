/** The groups of operations, as the first words of their names tell them. */

import type { RouteName } from '../routes.ts';
import type { Localized } from '../schema/locale.ts';

type GroupOf<N> = N extends `${infer Group}.${string}` ? Group : never;

export const OPERATION_GROUPS: Readonly<Record<GroupOf<RouteName>, Localized>> = {
  domain: { 'zh-CN': '域名', en: 'Domains' },
  origin: { 'zh-CN': '源站', en: 'Origins' },
  config: { 'zh-CN': '域名的设置', en: 'Settings of domains' },
  addressList: { 'zh-CN': '地址列表', en: 'Lists of addresses' },
  cache: { 'zh-CN': '刷新与预热', en: 'Purges and prefetches' },
  certificate: { 'zh-CN': '证书', en: 'Certificates' },
  log: { 'zh-CN': '日志', en: 'Logs' },
  stat: { 'zh-CN': '统计', en: 'Statistics' },
  event: { 'zh-CN': '事件', en: 'Events' },
  live: { 'zh-CN': '直播', en: 'Live streams' },
  sms: { 'zh-CN': '短信', en: 'SMS' },
  audit: { 'zh-CN': '操作审计', en: 'Audit trail' },
  session: { 'zh-CN': '登录与会话', en: 'Signing in, and sessions' },
  person: { 'zh-CN': '本人', en: 'The person who is signed in' },
  member: { 'zh-CN': '成员', en: 'Members of an account' },
  invitation: { 'zh-CN': '邀请', en: 'Invitations' },
  account: { 'zh-CN': '账户', en: 'Accounts' },
  token: { 'zh-CN': '访问令牌', en: 'Access tokens' },
  operator: {
    'zh-CN': '账户、人员、令牌与域名（仅供运营者）',
    en: 'Accounts, people, tokens and domains, for operators',
  },
  auditOperator: { 'zh-CN': '操作审计（仅供运营者）', en: 'Audit trail, for operators' },
  edgeOperator: { 'zh-CN': '节点（仅供运营者）', en: 'Edges, for operators' },
  eventOperator: { 'zh-CN': '事件（仅供运营者）', en: 'Events, for operators' },
  fleetOperator: { 'zh-CN': '节点的接入与证书（仅供运营者）', en: 'Admission of edges, for operators' },
  liveOperator: { 'zh-CN': '直播（仅供运营者）', en: 'Live streams, for operators' },
  groupOperator: { 'zh-CN': '节点组（仅供运营者）', en: 'Groups of edges, for operators' },
  sinkOperator: { 'zh-CN': '实时日志（仅供运营者）', en: 'Log lines in real time, for operators' },
  smsOperator: { 'zh-CN': '短信（仅供运营者）', en: 'SMS, for operators' },
};
