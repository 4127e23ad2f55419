/** Texts of the review of domains. */
import { type SettingWords, words } from '#contract/changes/setting-words.ts';

const en = {
  title: 'Review',
  waiting: (count: number) => (count === 1 ? '1 domain waits' : `${count} domains wait`),
  help: 'Edges answer for these domains when they are approved. A reason for a rejection is shown to the customer. In a row, A approves and R rejects.',
  none: 'No domain waits for review',
  noneHelp: 'Domains that customers add are listed here.',
  notAsked: 'This installation approves domains by itself: the setting review is not manual.',
  domain: 'Domain',
  account: 'Account',
  origin: 'Origins',
  filing: 'Filing number',
  noFiling: 'none',
  type: 'Type',
  added: 'Added',
  actions: 'Decision',
  approve: 'Approve',
  approveOf: (name: string) => `Approve ${name}`,
  approved: (name: string) => `${name} was approved`,
  reject: 'Reject…',
  rejectOf: (name: string) => `Reject ${name}…`,
  rejectTitle: (name: string) => `Reject ${name}`,
  rejectAction: 'Reject domain',
  rejected: (name: string) => `${name} was rejected`,
};

const zh: typeof en = {
  title: '审核',
  waiting: (count) => `${count} 个域名待审核`,
  help: '审核通过后节点才会为这些域名服务；驳回的原因会显示给客户。焦点在某一行时，按 A 通过，按 R 驳回。',
  none: '没有待审核的域名',
  noneHelp: '客户添加的域名会列在这里。',
  notAsked: '本服务自动通过域名（设置 review 不是 manual）。',
  domain: '域名',
  account: '账户',
  origin: '源站',
  filing: '备案号',
  noFiling: '无',
  type: '类型',
  added: '添加时间',
  actions: '处理',
  approve: '通过',
  approveOf: (name) => `通过 ${name}`,
  approved: (name) => `${name} 已通过审核`,
  reject: '驳回…',
  rejectOf: (name) => `驳回 ${name}…`,
  rejectTitle: (name) => `驳回 ${name}`,
  rejectAction: '驳回域名',
  rejected: (name) => `${name} 已驳回`,
};

export const reviewText = { en, 'zh-CN': zh };

export const REJECT_WORDS = {
  reason: words('原因', 'Reason', '会显示给客户。', 'The customer is shown it.'),
} satisfies Readonly<Record<string, SettingWords>>;
