/** Words of the fields of forms about accounts. */
import { both, type SettingWords, words } from '#contract/changes/setting-words.ts';

export const NEW_ACCOUNT_WORDS = {
  name: words('名称', 'Name'),
  kind: {
    ...words(
      '类型',
      'Kind',
      '运营方账户没有域名，用于管理整个服务。',
      'An account of operators has no domains; it runs the service.',
    ),
    values: { customer: both('客户', 'Customer'), operator: both('运营方', 'Operator') },
  },
} satisfies Readonly<Record<string, SettingWords>>;

const SCOPES = { cdn: both('加速', 'CDN'), sms: both('短信', 'SMS'), operator: both('运营', 'operator') };
export const ACCESS_VALUES = {
  read: both('查询', 'read'),
  write: both('修改', 'write'),
  manage: both('管理', 'manage'),
  money: both('资金', 'money'),
};

export const NEW_TOKEN_WORDS = {
  label: words('备注', 'Label', '用于区分令牌。', 'Tells it from other tokens.'),
  scopes: { ...words('范围', 'Scopes'), values: SCOPES },
  access: { ...words('权限', 'Access'), values: ACCESS_VALUES },
  expires_at: {
    ...words('到期时间', 'Expires'),
    values: {
      '': both('永不', 'never'),
      '2592000': both('30 天后', 'in 30 days'),
      '7776000': both('90 天后', 'in 90 days'),
      '31536000': both('一年后', 'in a year'),
    },
  },
  addresses: words(
    '来源地址',
    'Addresses',
    '仅允许从这些 IP 或网段使用；为空则不限。',
    'It is good from these addresses and networks only; empty: from anywhere.',
  ),
} satisfies Readonly<Record<string, SettingWords>>;

export const PERSON_WORDS = {
  email: words('邮箱', 'E-mail address'),
  name: words('姓名', 'Name'),
  role: {
    ...words('角色', 'Role'),
    values: {
      owner: both('所有者：可进行所有操作', 'owner: may do everything'),
      editor: both('编辑：查询和修改', 'editor: reads and changes'),
      viewer: both('查看者：仅查询', 'viewer: reads'),
      billing: both('财务：余额、单价和流水', 'billing: balance, prices and ledger'),
      admin: both('管理员：可进行所有操作', 'admin: may do everything'),
      operator: both('运营：审核、节点、通道', 'operator: reviews, edges, connectors'),
    },
  },
} satisfies Readonly<Record<string, SettingWords>>;

export const ACCOUNT_WORDS = {
  account_id: words('账户编号', 'Id of the account'),
} satisfies Readonly<Record<string, SettingWords>>;

export const LOOK_WORDS = {
  reason: words('原因', 'Reason', '例如工单编号，客户可见。', 'Such as the number of a ticket. The customer sees it.'),
} satisfies Readonly<Record<string, SettingWords>>;

const OF_SERVICE = ['清空则使用服务的设置。', 'Empty: as the service has it.'] as const;
const NO_LIMIT = ['清空则不限。', 'Empty: not limited.'] as const;

export const LIMIT_WORDS = {
  requests_per_second: words('每秒接口请求数', 'Calls a second', ...NO_LIMIT),
  domains: words('域名数', 'Domains', ...OF_SERVICE),
  purge_urls: words('每日刷新网址数', 'URLs purged a day', ...OF_SERVICE),
  purge_directories: words('每日刷新目录数', 'Directories purged a day', ...OF_SERVICE),
  prefetch_urls: words('每日预热网址数', 'URLs prefetched a day', ...OF_SERVICE),
  bandwidth_mbps: words('带宽（Mbit/s）', 'Bandwidth (Mbit/s)', ...NO_LIMIT),
  over_bandwidth: {
    ...words('超出带宽时', 'Over its bandwidth'),
    values: {
      nothing: both('仅产生事件', 'An event only'),
      refuse: both('节点以 503 拒绝访问', 'Edges answer 503'),
    },
  },
} satisfies Readonly<Record<string, SettingWords>>;

export const RECHARGE_WORDS = {
  amount: words(
    '金额',
    'Amount',
    '以最小货币单位计的整数，负数为扣减。',
    'An integer in the smallest unit; a negative one subtracts.',
  ),
  reference: words(
    '凭据',
    'Reference',
    '例如付款单号；相同凭据只计一次。',
    'Such as the number of a payment. The same one counts once.',
  ),
} satisfies Readonly<Record<string, SettingWords>>;

export const NEW_APP_WORDS = { name: words('名称', 'Name') } satisfies Readonly<Record<string, SettingWords>>;

export const DOMAIN_GROUP_WORDS = {
  groups: words('节点组', 'Groups'),
} satisfies Readonly<Record<string, SettingWords>>;

export const TRANSFER_WORDS = {
  to_account_id: words('目标账户编号', 'Id of the other account'),
} satisfies Readonly<Record<string, SettingWords>>;
