/**
 * Why a value was refused, in Chinese. The parsers of names, origins, patterns and lists say it in English, as the end of a
 * sentence that begins with the value; here is the same of each. A test finds the ones that are not here.
 */
import type { Localized } from '../schema/locale.ts';

/** A reason that is not known here stays English: better than none. */
export function localizeReason(reason: string): Localized {
  return { 'zh-CN': translate(reason) ?? reason, en: reason };
}

/** `undefined`: not known here. */
export function translate(reason: string): string | undefined {
  for (const [pattern, text] of PATTERNS) {
    const match = pattern.exec(reason);
    // What stands in a place may be a reason itself.
    if (match !== null)
      return text.replace(/\{(\d)\}/g, (_, n: string) => translate(match[Number(n)] ?? '') ?? match[Number(n)] ?? '');
  }
  return undefined;
}

/** `{}` stands for a value, which the Chinese text names by its number. */
const TEXTS: readonly (readonly [en: string, zh: string])[] = [
  ['is empty', '为空'],
  ['is longer than {} characters', '超过 {1} 个字符'],
  ['contains control characters', '含有控制字符'],
  ['is not well-formed Unicode', '不是合法的 Unicode 文本'],

  ['has a scheme: write host or host:port', '带有协议：应写作 域名 或 域名:端口'],
  ['is IPv6 without brackets: write [address] or [address]:port', '是不带方括号的 IPv6：应写作 [地址] 或 [地址]:端口'],
  ['has a port that is not 1 to 65535', '的端口不在 1 到 65535 之间'],
  ['is not an IPv6 address inside its brackets', '的方括号中不是 IPv6 地址'],

  ['contains characters that host names cannot have', '含有域名中不能有的字符'],
  ['ends in a number: it would be read as an IP address', '以数字结尾：会被当作 IP 地址'],
  ['is not a host name in IDNA', '不是合法的国际化域名（IDNA）'],
  ['is longer than {} characters in ASCII', '转为 ASCII 后超过 {1} 个字符'],
  [
    "has a part that is not 1 to 63 letters, digits or inner hyphens: '{}'",
    "的一段不是 1 到 63 个字母、数字或中间的连字符：'{1}'",
  ],
  ['has a scheme: write the name alone, as in www.example.com', '带有协议：只写域名，如 www.example.com'],
  ['needs at least two parts, as in example.com', '至少要有两段，如 example.com'],
  ['contains an underscore', '含有下划线'],
  ['is a wildcard on the public suffix {}', '是公共后缀 {1} 上的泛域名'],
  ["overlaps with the names of this service's own aliases, {}", '与本服务自己的别名 {1} 重叠'],
  ['is too long: its alias would have {} characters', '过长：其别名将有 {1} 个字符'],

  ['is a wildcard on an IP address', '是 IP 地址上的通配符'],
  ['is neither an IP address nor a network such as 192.0.2.0/24', '既不是 IP 地址，也不是 192.0.2.0/24 这样的网段'],
  [
    'is an IPv4 address in IPv6 with a prefix below 96, which no IPv4 client is in: write the IPv4 network',
    '是以 IPv6 形式书写的 IPv4 地址，且前缀小于 96，不会包含任何 IPv4 客户端：应写作 IPv4 网段',
  ],

  ['does not begin with http:// or https://', '不以 http:// 或 https:// 开头'],
  ['has a user name', '带有用户名'],
  ['has a fragment (#), which no server ever sees', '带有片段（#），而服务器收不到这一部分'],
  ['has a % without two hexadecimal digits', '含有后面不是两位十六进制数的 %'],
  ['has no valid port', '的端口无效'],
  ['has a host that {}', '的域名{1}'],
  ['has a query', '带有查询参数'],
  ['does not end with /', '不以 / 结尾'],
  [
    'ends with *, which is not a wildcard: purge everything below a path as a directory, a URL that ends with /',
    '以 * 结尾，而 * 不是通配符：路径以下的内容应作为目录刷新，即以 / 结尾的网址',
  ],

  ['does not begin with /', '不以 / 开头'],
  ['has a query or a fragment, and a prefix is a path', '带有查询参数或片段，而目录只是路径'],
  [
    'is not a path: a % without two hexadecimal digits, or a control character',
    '不是路径：含有控制字符，或后面不是两位十六进制数的 %',
  ],
  ['names no suffix', '未写任何后缀'],
  ['has a suffix with a blank, a control character, /, ? or #', '中有后缀含有空格、控制字符、/、? 或 #'],
  ['{} (its non-ASCII letters count percent-encoded)', '{1}（其中的非 ASCII 字符按百分号编码计算）'],
  [
    'has {} {}, which URLs have percent-encoded: write {} outside of that',
    '{2}含有 {1}，而网址中它以百分号编码出现：请移到外面并写作 {3}',
  ],
  ['in a class, in \\Q…\\E or after a backslash', '在字符类、\\Q…\\E 中或反斜杠之后'],
  ['uses look-around, which does not run in linear time', '使用了环视，不能在线性时间内执行'],
  ['repeats too much: it is too long with its repetitions expanded', '重复过多：展开后过长'],
  [
    'has too many ways to match: begin it with ^, or lower the count of repetitions that can begin anew within themselves',
    '匹配方式过多：请以 ^ 开头，或减少内部可以重新开始匹配的重复的次数',
  ],
  ['cannot be used: {}', '不能使用：{1}'],

  [
    'is neither a URL that begins with http:// or https:// nor a path that begins with a single /',
    '既不是以 http:// 或 https:// 开头的网址，也不是以单个 / 开头的路径',
  ],
  ['is redirected back to where it came from', '会被重定向回原来的路径'],
  ['is not a name of a header field', '不是合法的响应头名称'],
  ['is a field that the service sets itself', '是由本服务自行设置的响应头'],
  ['has characters other than printable ASCII', '含有可打印 ASCII 以外的字符'],
  ['is empty, or begins or ends with a blank', '为空，或首尾有空格'],
  ['makes all of them longer than {} characters', '使其总长超过 {1} 个字符'],

  ['is not PEM: there is no -----BEGIN line in it', '不是 PEM：没有 -----BEGIN 行'],
  ['has a block without its END line: {}', '中有块缺少 END 行：{1}'],
  ['has a block that is not Base64: {}', '中有块不是 Base64：{1}'],
  ['holds no certificate, but {}', '不含证书，只有 {1}'],
  ['has a block that is not a certificate: number {}', '的第 {1} 个证书块不是证书'],
  ['holds {} certificates: at most {} make a chain', '含有 {1} 张证书：证书链至多 {2} 张'],
  ['holds {} certificates of the private key: one is expected', '含有 {1} 张与私钥匹配的证书：应只有一张'],
  ['holds a certificate that is not part of its chain: {}', '含有不属于证书链的证书：{1}'],
  ['expired at {}', '已于 {1} 过期'],
  ['makes a chain that TLS does not accept: {}', '构成的证书链不被 TLS 接受：{1}'],
  ['cannot be used in a handshake: {}', '无法用于 TLS 握手：{1}'],
  ['has no readable validity', '的有效期无法读取'],
  ['does not belong to the certificate', '与证书不匹配'],
  ['holds no private key, but {}', '不含私钥，只有 {1}'],
  ['holds {} private keys: one is expected', '含有 {1} 个私钥：应只有一个'],
  ['is encrypted: remove its passphrase first, for example with {}', '已加密：请先去掉口令，如 {1}'],
  ['is in an unknown format: {}', '的格式无法识别：{1}'],
  ['is RSA of {} bits: at least {} are needed', '是 {1} 位的 RSA 密钥：至少应为 {2} 位'],
  ['is RSA of {} bits: at most {} can be served', '是 {1} 位的 RSA 密钥：至多支持 {2} 位'],
  ['is of an unsupported kind: {} (supported: {})', '的类型不受支持：{1}（支持 {2}）'],
  ['cannot be read as a private key', '无法作为私钥读取'],
];

const PATTERNS = TEXTS.map(([en, zh]) => [toPattern(en), zh] as const);

function toPattern(text: string): RegExp {
  return new RegExp(`^${text.split('{}').map(RegExp.escape).join('(.*?)')}$`, 's');
}
