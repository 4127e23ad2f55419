/** Texts of changing several domains at once. */
const en = {
  title: (count: number) =>
    count === 0 ? 'Change domains' : count === 1 ? 'Change 1 domain' : `Change ${count} domains`,
  none: 'No domain is chosen',
  choose: 'Choose domains',
  what: 'What they get',
  addSetting: 'Add a setting…',
  copy: 'Copy from a domain…',
  copyTitle: 'Copy settings from a domain',
  from: 'Domain',
  fromHelp: 'Secrets, such as the keys of signed URLs, are not copied.',
  topics: 'What is copied',
  take: 'Take over',
  divider: ': ',
  willChange: 'What will change',
  wasChanged: 'What was changed',
  summary: (changed: number, same: number, refused: number) =>
    [`${changed} to change`, same > 0 && `${same} as they are`, refused > 0 && `${refused} refused`]
      .filter(Boolean)
      .join(', '),
  summaryDone: (changed: number, same: number, refused: number) =>
    [`${changed} changed`, same > 0 && `${same} as they were`, refused > 0 && `${refused} refused`]
      .filter(Boolean)
      .join(', '),
  settings: (count: number) => (count === 1 ? '1 setting' : `${count} settings`),
  states: { refused: 'refused', same: 'is so already', changes: 'will change', changed: 'changed' },
  apply: (count: number) => (count === 1 ? 'Apply to 1 domain' : `Apply to ${count} domains`),
  undoHelp: 'Each domain has a revision of its own: it can be set back on its page, under Revisions.',
  toDomains: 'Go to the domains',
};

const zh: typeof en = {
  title: (count) => (count === 0 ? '修改域名' : `修改 ${count} 个域名`),
  none: '尚未选择域名',
  choose: '选择域名',
  what: '要应用的配置',
  addSetting: '添加配置项…',
  copy: '从其他域名复制…',
  copyTitle: '复制域名的配置',
  from: '域名',
  fromHelp: '密钥（如网址签名的密钥）不会被复制。',
  topics: '复制内容',
  take: '复制',
  divider: '：',
  willChange: '将要更改',
  wasChanged: '更改结果',
  summary: (changed, same, refused) =>
    [`${changed} 个将更改`, same > 0 && `${same} 个无需更改`, refused > 0 && `${refused} 个被拒绝`]
      .filter(Boolean)
      .join('，'),
  summaryDone: (changed, same, refused) =>
    [`${changed} 个已更改`, same > 0 && `${same} 个未变`, refused > 0 && `${refused} 个被拒绝`]
      .filter(Boolean)
      .join('，'),
  settings: (count) => `${count} 项配置`,
  states: { refused: '被拒绝', same: '无需更改', changes: '将更改', changed: '已更改' },
  apply: (count) => `应用到 ${count} 个域名`,
  undoHelp: '每个域名各有一个新版本，可在域名页面的“历史版本”中恢复。',
  toDomains: '返回域名列表',
};

export const changeDomainsText = { en, 'zh-CN': zh };
