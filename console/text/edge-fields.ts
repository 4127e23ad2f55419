/** Words of the fields of forms about edges. */
import { both, type SettingWords, words } from '#contract/changes/setting-words.ts';

export const EDGE_TOKEN_WORDS = {
  edge_id: words(
    '节点名称',
    'Name of the edge',
    '为空则由控制端命名。',
    'Empty: control names it when the machine enrols.',
  ),
  group: words('节点组', 'Group'),
  labels: words('标签', 'Labels', '例如 rack=b7。', 'Such as rack=b7.'),
  addresses: words(
    '来源地址',
    'Addresses',
    '仅允许从这些 IP 或网段注册；为空则不限。',
    'Machines enrol from these addresses and networks only; empty: from anywhere.',
  ),
  uses: words('使用次数', 'Uses', '指定节点名称时为 1。', '1 if the edge is named.'),
  valid_seconds: words('有效期', 'Good for'),
  replace: words(
    '替换已有节点',
    'Replace an edge',
    '允许以已注册的名称重新注册，原证书随即吊销。',
    'The named edge may be enrolled already: its certificates are revoked then.',
  ),
} satisfies Readonly<Record<string, SettingWords>>;

export const OWN_EDGE_WORDS = {
  edge_id: words('节点名称', 'Name of the edge', '与其证书中的名称一致。', 'As its certificate names it.'),
  group: EDGE_TOKEN_WORDS.group,
  labels: EDGE_TOKEN_WORDS.labels,
} satisfies Readonly<Record<string, SettingWords>>;

export const GROUP_WORDS = {
  name: words('名称', 'Name'),
  default: words(
    '默认组',
    'Default group',
    '为未指定节点组的域名服务。',
    'Serves the domains that have no groups of their own.',
  ),
} satisfies Readonly<Record<string, SettingWords>>;

export const ACCEPT_WORDS = {
  serial: { title: both('证书序列号', 'Serial number'), effect: both('', '') },
} satisfies Readonly<Record<string, SettingWords>>;
