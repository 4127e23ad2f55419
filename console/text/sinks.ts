/** Texts of the receivers of log lines, and the words of their form. */
import { type SettingWords, words } from '#contract/changes/setting-words.ts';

const en = {
  title: 'Real-time logs',
  help: 'Every edge posts its log lines to these receivers within seconds, as gzipped NDJSON.',
  none: 'No receivers yet',
  add: 'Add receiver',
  change: 'Change receiver',
  changeTitle: (name: string) => `Change ${name}`,
  changeHelp:
    'Header fields that are not given stay as they are. An address with another scheme, host or port needs them anew.',
  remove: 'Remove receiver',
  removeTitle: (name: string) => `Remove ${name}?`,
  removeHelp: 'What edges have not sent yet is dropped.',
  test: 'Send test record',
  name: 'Name',
  url: 'Address',
  locked: 'cannot be opened: set it again',
  lines: 'Lines',
  share: (percent: number, domains: number) =>
    `${percent} %, ${domains === 0 ? 'all domains' : `${domains} domain${domains === 1 ? '' : 's'}`}`,
  state: 'State',
  fine: 'fine',
  states: { failing: 'failing', dropping: 'dropping lines' },
  trouble: (edge: string, reason: string) => `${edge}: ${reason}`,
  actions: 'Actions',
  answered: (name: string, status: number, ms: number) => `${name} answered ${status} in ${ms} ms`,
  notAnswered: (name: string, reason: string) => `${name} did not answer: ${reason}`,
};

const zh: typeof en = {
  title: '实时日志',
  help: '各节点在数秒内将访问日志以 gzip 压缩的 NDJSON 发送到以下地址。',
  none: '尚未设置接收地址',
  add: '添加接收地址',
  change: '修改接收地址',
  changeTitle: (name) => `修改 ${name}`,
  changeHelp: '未填写的请求头保持不变；地址的协议、主机或端口变更时须重新填写。',
  remove: '删除接收地址',
  removeTitle: (name) => `删除 ${name}？`,
  removeHelp: '节点尚未发送的日志将被丢弃。',
  test: '发送测试记录',
  name: '名称',
  url: '地址',
  locked: '无法解密，请重新设置',
  lines: '日志范围',
  share: (percent, domains) => `${percent}%，${domains === 0 ? '全部域名' : `${domains} 个域名`}`,
  state: '状态',
  fine: '正常',
  states: { failing: '发送失败', dropping: '有日志被丢弃' },
  trouble: (edge, reason) => `${edge}：${reason}`,
  actions: '操作',
  answered: (name, status, ms) => `${name} 返回 ${status}，用时 ${ms} 毫秒`,
  notAnswered: (name, reason) => `${name} 没有应答：${reason}`,
};

export const sinksText = { en, 'zh-CN': zh };

const CHANGED_WORDS = {
  url: words('地址', 'Address'),
  headers: words(
    '请求头',
    'Header fields',
    '每行一个，例如 Authorization: Bearer …',
    'One per line, such as Authorization: Bearer …',
  ),
  fields: words('字段', 'Fields', '不选则发送全部字段。', 'None chosen: all of them.'),
  sample_percent: words('采样（%）', 'Sample (%)', '发送的日志所占百分比。', 'Percentage of the lines that are sent.'),
  domain_ids: words('域名 ID', 'Domain ids', '为空则发送全部域名的日志。', 'Empty: the lines of all domains.'),
} satisfies Readonly<Record<string, SettingWords>>;

export const SINK_WORDS = {
  change: CHANGED_WORDS,
  add: { name: words('名称', 'Name'), ...CHANGED_WORDS },
} satisfies Readonly<Record<string, Readonly<Record<string, SettingWords>>>>;
