/** Titles and effects of every setting of a domain, for people: a setting without a row does not compile. docs/decisions/0657 */
import type { Localized } from '../schema/locale.ts';
import { HEADER_MEMBERS, LIMIT_MEMBERS, PATH_MEMBERS, POLICY_MEMBERS, REDIRECT_MEMBERS } from './rule-texts.ts';
import type { SettingTopic, TOPIC_FIELDS } from './setting-topics.ts';
import { both, type SettingWords, words } from './setting-words.ts';

type TopicTexts = {
  readonly [T in SettingTopic]: {
    readonly title: Localized;
    readonly settings: { readonly [N in keyof (typeof TOPIC_FIELDS)[T] & string]: SettingWords };
  };
};

const ORIGIN = {
  data: words(
    '主源站',
    'Primary origins',
    '节点回源的地址，每行一个。',
    'Where edges fetch from, one address per line.',
  ),
  backup: words(
    '备源站',
    'Backup origins',
    '主源站均不可用时回源到这些地址。',
    'Used while no primary origin can be reached.',
  ),
  source_type: {
    ...words('回源协议', 'Protocol', '节点与源站之间使用的协议。', 'How edges speak to the origins.'),
    values: {
      '': both('HTTP（默认）', 'HTTP (default)'),
      http: both('HTTP', 'HTTP'),
      https: both('HTTPS', 'HTTPS'),
      protocol_follow: both('与访客相同', 'Same as the viewer'),
    },
  },
  sourcehost: words(
    '回源 HOST',
    'Host header',
    '回源请求中的 Host；为空时使用加速域名。',
    "The Host of requests to the origins; empty for the domain's own name.",
  ),
  monitor_url: words(
    '探测网址',
    'Probe URL',
    '节点定期访问该网址，以判断源站是否可用。',
    'Edges request it regularly to see whether an origin is well.',
  ),
};

const ADVANCED = {
  keep_url_params: words(
    '忽略参数',
    'Ignore the query',
    '仅查询参数不同的请求共用一个缓存；源站仍会收到参数。',
    'Requests that differ only in the query share one cached object. The origin still gets the query.',
  ),
  prefix_cache_first: words(
    '目录优先',
    'Directories first',
    '目录类缓存策略优先于其他策略。',
    'Cache policies for directories win over all others.',
  ),
  redirect_follow: words(
    '跟随源站跳转',
    "Follow the origin's redirects",
    '源站返回跳转时由节点跟随，访客直接得到目标内容。',
    'The edge follows a redirect of the origin, and viewers get its target.',
  ),
  page_compress: words(
    '智能压缩',
    'Compress texts',
    'HTML、CSS、JavaScript 等文本以 gzip、Brotli 或 Zstandard 压缩传输。',
    'HTML, CSS, JavaScript and the like are sent as gzip, Brotli or Zstandard.',
  ),
  range_back_source: words(
    '分片回源',
    'Fetch large objects in slices',
    '大文件只回源访客请求的部分。',
    'Only the parts that viewers ask for are fetched from the origin.',
  ),
  expires: words('浏览器缓存时间', 'Browsers keep responses for', '0 表示由源站决定。', '0 leaves it to the origin.'),
  access_control_max_age: words(
    '预检结果缓存时间',
    'Browsers keep CORS preflights for',
    '0 表示由源站决定。',
    '0 leaves it to the origin.',
  ),
  forbid_http_code: {
    ...words(
      '拒绝访问时返回',
      'Refused viewers get',
      '被访问控制拒绝的请求得到的响应。',
      'The answer to requests that an access rule refuses.',
    ),
    values: {
      '': both('默认的 403', 'A plain 403'),
      '302': both('跳转（302）', 'A redirect (302)'),
      '403': both('自定义页面（403）', 'A page of yours (403)'),
    },
  },
  forbid_redirect_url: words(
    '跳转到',
    'Redirect to',
    '返回 302 时的目标网址。',
    'The target, when refused viewers get a redirect.',
  ),
  html_403: words('403 页面', '403 page', '返回自定义页面时的 HTML。', 'The HTML, when refused viewers get a page.'),
};

const CACHE = {
  set_cookie: {
    ...words('带 Set-Cookie 的响应', 'Responses with Set-Cookie', '', ''),
    values: {
      bypass: both('不缓存', 'Are not cached'),
      store: both('有明确有效期时连同 Cookie 缓存', 'Are cached with the cookie if their lifetime is explicit'),
      strip: both('去掉 Cookie 后缓存', 'Are cached without the cookie'),
    },
  },
  request_directives: words(
    '遵循访客的缓存指令',
    "Honor viewers' cache directives",
    '访客请求中的 no-cache、max-age 等生效。',
    "A viewer's own no-cache or max-age is obeyed.",
  ),
  heuristic_cap: words(
    '无有效期时最长缓存',
    'Longest lifetime without an explicit one',
    '源站未说明有效期时按启发式计算，不超过该时间；0 表示不缓存。',
    'Limits what is estimated where the origin says nothing; 0 does not cache such responses.',
  ),
  stale_cap: words(
    '源站故障时使用过期缓存',
    'Serve stale while the origin is down for',
    '过期后仍可使用的时间；0 表示从不使用。',
    'How long past its expiry a response may still be served; 0 is never.',
  ),
  normalize_vary: words(
    '合并等价的 Vary 取值',
    'Treat equal Vary values as one',
    '含义相同的请求头取值共用一个缓存。',
    'Values of request headers that mean the same share one cached object.',
  ),
  match_language: words(
    '按首选语言命中',
    'Serve by preferred language',
    '已有访客首选语言的缓存时不再回源。',
    "A cached response in the viewer's preferred language is enough.",
  ),
};

const REFERER = {
  referer_type: {
    ...words('Referer 防盗链', 'Referer rule', '', ''),
    values: {
      '0': both('关闭', 'Off'),
      '1': both('黑名单：拒绝列出的来源', 'Deny the listed sites'),
      '2': both('白名单：只允许列出的来源', 'Allow the listed sites only'),
    },
  },
  referer_blank: words(
    '允许空 Referer',
    'Allow an empty Referer',
    '直接输入网址或某些应用发出的请求没有 Referer。',
    'Requests that are typed, or made by some programs, have none.',
  ),
  referer_str: words('来源域名', 'Sites', '如 example.com 或 *.example.com。', 'Such as example.com or *.example.com.'),
};

const SSL = {
  ssl_control: words(
    'HTTPS',
    'HTTPS',
    '以下证书用于该域名的 HTTPS 访问。',
    'The domain is served over HTTPS with the certificate below.',
  ),
  ssl_key: words('证书', 'Certificate'),
  ssl_key_second: words(
    '第二张证书',
    'Second certificate',
    '密钥类型与第一张不同，供较旧的客户端使用。',
    'With another kind of key, for clients that cannot use the first.',
  ),
  force_https: words('强制 HTTPS', 'Force HTTPS', 'HTTP 请求跳转到 HTTPS。', 'Plain HTTP is redirected to HTTPS.'),
  hsts_max_age: words(
    'HSTS 有效期',
    'HSTS for',
    '浏览器在此期间只用 HTTPS 访问；0 表示不发送。撤销须等到期，请先用较短时间。',
    'Browsers then insist on HTTPS for that long; 0 sends none. It cannot be taken back: begin with a short time.',
  ),
  tls_min_version: {
    ...words('最低 TLS 版本', 'Lowest TLS version'),
    values: { '1.2': both('TLS 1.2', 'TLS 1.2'), '1.3': both('TLS 1.3', 'TLS 1.3') },
  },
};

export const TOPIC_TEXTS: TopicTexts = {
  origin: { title: both('源站', 'Origins'), settings: ORIGIN },
  advanced: { title: both('高级配置', 'Advanced'), settings: ADVANCED },
  policies: {
    title: both('缓存策略', 'Cache policies'),
    settings: {
      use_header_setting: words(
        '遵循源站缓存头',
        "Follow the origin's cache headers",
        '没有策略匹配时，按源站的 Cache-Control 和 Expires 缓存。',
        'Where no policy matches, Cache-Control and Expires of the origin decide.',
      ),
      policy: {
        ...words(
          '策略',
          'Policies',
          '每个请求由一条策略决定：优先级最高者，相同时靠前者。',
          'One policy decides on a request: the one with the highest priority, of equals the first.',
        ),
        members: POLICY_MEMBERS,
      },
    },
  },
  cache: { title: both('缓存选项', 'Cache options'), settings: CACHE },
  referer: { title: both('Referer 防盗链', 'Referer'), settings: REFERER },
  ua: {
    title: both('User-Agent 黑名单', 'User-Agent'),
    settings: {
      ua_control: words('启用', 'Deny by User-Agent'),
      ua_str: words(
        'User-Agent',
        'User-Agents',
        '全文或其一部分，* 代表任意文本。',
        'A whole one or a part of it; * stands for any text.',
      ),
    },
  },
  ip: {
    title: both('IP 黑名单', 'Client addresses'),
    settings: {
      ip_type: words('启用', 'Deny by address'),
      ip_str: words(
        'IP 与网段',
        'Addresses and networks',
        '如 192.0.2.1 或 2001:db8::/32。',
        'Such as 192.0.2.1 or 2001:db8::/32.',
      ),
    },
  },
  address_lists: {
    title: both('地址列表', 'Address lists'),
    settings: {
      deny: words(
        '拒绝的列表',
        'Denied lists',
        '拒绝在这些列表中的客户端。',
        'Clients on any of these lists are refused.',
      ),
      allow: words(
        '允许的列表',
        'Allowed lists',
        '只允许在这些列表中的客户端；为空时不限制。',
        'Only clients on these lists are let in; empty lets in all.',
      ),
    },
  },
  rate_limits: {
    title: both('访问频率限制', 'Rate limits'),
    settings: {
      limits: {
        ...words('限制', 'Limits', '路径匹配的第一条生效。', 'The first whose path matches counts.'),
        members: LIMIT_MEMBERS,
      },
    },
  },
  redirects: {
    title: both('重定向', 'Redirects'),
    settings: {
      redirects: {
        ...words('规则', 'Rules', '路径匹配的第一条生效。', 'The first whose path matches decides.'),
        members: REDIRECT_MEMBERS,
      },
    },
  },
  headers: {
    title: both('响应头', 'Response headers'),
    settings: {
      headers: { ...words('规则', 'Changes', '按顺序执行。', 'Applied in their order.'), members: HEADER_MEMBERS },
    },
  },
  signing: {
    title: both('网址签名', 'Signed URLs'),
    settings: {
      sign: words(
        '要求签名',
        'Require a signature',
        '没有有效签名的请求被拒绝。',
        'Requests without a valid signature are refused.',
      ),
      valid_seconds: words(
        '签名有效期',
        'A URL is valid for',
        '从网址中的时间起计算。',
        'Counted from the time in the URL.',
      ),
      paths: {
        ...words('路径', 'Paths', '为空时所有路径都需要签名。', 'Empty: every path needs a signature.'),
        members: PATH_MEMBERS,
      },
    },
  },
  ssl: { title: both('HTTPS', 'HTTPS'), settings: SSL },
  recording: {
    title: both('录制', 'Recording'),
    settings: {
      record: words('录制直播流', 'Record streams'),
      keep_days: words('保留天数', 'Keep for days'),
    },
  },
};
