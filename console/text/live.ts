/** Texts of the traffic of the last minutes. */
const en = {
  title: 'Last 5 minutes',
  every: (seconds: number) => (seconds === 60 ? 'by the minute' : `by ${seconds} seconds`),
  until: 'until',
  missing: (edges: number) => (edges === 1 ? 'without one edge' : `without ${edges} edges`),
  others: '1xx to 3xx',
};

const zh: typeof en = {
  title: '最近 5 分钟',
  every: (seconds) => (seconds === 60 ? '按分钟' : `每 ${seconds} 秒`),
  until: '截至',
  missing: (edges) => `缺少 ${edges} 个节点的数据`,
  others: '1xx 至 3xx',
};

export const liveText = { en, 'zh-CN': zh };
