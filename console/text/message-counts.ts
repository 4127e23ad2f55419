/** Texts of the statistics of messages. */
const en = {
  list: 'Messages',
  counts: 'Statistics',
  balance: 'Balance',
  views: 'Views of messages',
  period: 'Time',
  periods: { '7d': '7 days', '30d': '30 days', '90d': '90 days' },
  byDay: 'Messages by day',
  days: 'Days',
  day: 'Day',
  groups: { delivered: 'Delivered', underWay: 'Under way', simulated: 'Simulated', trouble: 'Not delivered' },
  messages: 'Messages',
  deliveredShare: 'Delivered',
  parts: 'Parts',
  price: 'Price',
  csv: 'Download CSV',
  none: 'No message in this time',
  noneHelp: 'Messages are counted on the day on which they were accepted.',
  incomplete: 'There are too many messages to count in one go. Complete since',
};

const zh: typeof en = {
  list: '短信',
  counts: '统计',
  balance: '余额',
  views: '短信的视图',
  period: '时间',
  periods: { '7d': '7 天', '30d': '30 天', '90d': '90 天' },
  byDay: '每日短信数',
  days: '每日明细',
  day: '日期',
  groups: { delivered: '已送达', underWay: '发送中', simulated: '模拟发送', trouble: '未送达' },
  messages: '短信数',
  deliveredShare: '送达率',
  parts: '条数',
  price: '费用',
  csv: '下载 CSV',
  none: '此时段没有短信',
  noneHelp: '短信计入受理当日。',
  incomplete: '短信过多，无法一次统计完。完整数据始于',
};

export const messageCountsText = { en, 'zh-CN': zh };
