/** Texts of ledgers: what was paid in, held, charged and given back. */
const en = {
  title: 'Ledger',
  balanceIs: (amount: string) => `Balance: ${amount}`,
  none: 'There are no entries yet',
  help: 'The price of a message is held when it is accepted, and later kept (charged, an amount of 0) or refunded.',
  kinds: { recharge: 'recharge', hold: 'held', charge: 'charged', refund: 'refunded' },
  kind: 'What',
  amount: 'Amount',
  about: 'About',
  when: 'When',
  earlier: 'Earlier entries',
  latest: 'Latest entries',
};

const zh: typeof en = {
  title: '流水',
  balanceIs: (amount) => `余额：${amount}`,
  none: '还没有流水',
  help: '受理短信时预扣费用，之后保留（扣费，金额为 0）或退还。',
  kinds: { recharge: '充值', hold: '预扣', charge: '扣费', refund: '退还' },
  kind: '类型',
  amount: '金额',
  about: '对象',
  when: '时间',
  earlier: '更早的流水',
  latest: '最近的流水',
};

export const ledgerText = { en, 'zh-CN': zh };
