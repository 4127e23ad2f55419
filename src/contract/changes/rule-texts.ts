/** Titles of the members of rules that a customer orders himself. docs/decisions/0657 */
import { both, words } from './setting-words.ts';

const PATH_TYPES = {
  prefix: both('目录', 'Directory'),
  suffix: both('后缀', 'Suffixes'),
  urlregex: both('正则表达式', 'Regular expression'),
};

export const PATH_MEMBERS = {
  path_type: { ...words('匹配方式', 'Match by'), values: PATH_TYPES },
  path: words('内容', 'Path'),
};

export const POLICY_MEMBERS = {
  is_cache: words('缓存', 'Cache'),
  priority: words('优先级', 'Priority', '1 到 99，99 最高。', '1 to 99, 99 is the highest.'),
  policy_type: { ...words('匹配方式', 'Match by'), values: PATH_TYPES },
  policy_scheme: {
    ...words('协议', 'Scheme'),
    values: { http: both('HTTP', 'HTTP'), https: both('HTTPS', 'HTTPS') },
  },
  content: words('内容', 'Path', '如 /images/ 或 jpg,png。', 'Such as /images/ or jpg,png.'),
  time_y: words('年', 'Years'),
  time_d: words('天', 'Days'),
  time_h: words('小时', 'Hours'),
  time_i: words('分钟', 'Minutes'),
  time_s: words('秒', 'Seconds'),
};

export const LIMIT_MEMBERS = {
  ...PATH_MEMBERS,
  requests: words('请求数', 'Requests'),
  seconds: words('每多少秒', 'Per seconds'),
  burst: words('突发请求数', 'At once'),
};

export const REDIRECT_MEMBERS = {
  ...PATH_MEMBERS,
  target: words('目标', 'Target', '网址，或以 / 开头的路径。', 'A URL, or a path that begins with /.'),
  status: {
    ...words('状态码', 'Status'),
    values: {
      '301': both('301（永久）', '301 (permanent)'),
      '302': both('302（临时）', '302 (temporary)'),
      '307': both('307（临时，保留方法）', '307 (temporary, keeps the method)'),
      '308': both('308（永久，保留方法）', '308 (permanent, keeps the method)'),
    },
  },
  keep_query: words('附加参数', 'Append the query'),
};

export const HEADER_MEMBERS = {
  action: {
    ...words('动作', 'Action'),
    values: { set: both('设置', 'Set'), add: both('添加', 'Add'), remove: both('删除', 'Remove') },
  },
  name: words('名称', 'Name'),
  value: words('值', 'Value'),
};
