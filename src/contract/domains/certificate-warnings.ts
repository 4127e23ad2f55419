/** The texts of warnings about certificates, in both languages. */
import type { Locale, Localized } from '../schema/locale.ts';

/** What clients are likely to refuse in a certificate that was taken. docs/decisions/0431 */
export const CERTIFICATE_WARNINGS = [
  'notYetValid',
  'validTooLong',
  'noNames',
  'wildcardTooBroad',
  'notForServers',
  'keyMayNotSign',
  'keyNotInBrowsers',
  'mustStaple',
  'weakSignature',
  'intermediateExpired',
  'intermediateNotYetValid',
  'intermediateNotAuthority',
  'selfSigned',
  'issuerMissing',
  'clientsRefuse',
] as const;

type Code = (typeof CERTIFICATE_WARNINGS)[number];

/** `{name}` stands for a value that comes with the warning. */
const TEXTS: Readonly<Record<Code, Localized>> = {
  notYetValid: {
    'zh-CN': '证书在 {time} 之前尚未生效，客户端会拒绝它',
    en: 'the certificate is not valid before {time}, and clients refuse it until then',
  },
  validTooLong: {
    'zh-CN': '证书的有效期为 {days} 天，iPhone 和 Mac 拒绝超过 825 天的证书',
    en: 'the certificate is valid for {days} days, and iPhones and Macs refuse more than 825',
  },
  noNames: {
    'zh-CN': '证书的 subjectAltName 中没有域名，不能用于任何域名',
    en: "the certificate's subjectAltName has no domain name, so no domain can use it",
  },
  wildcardTooBroad: {
    'zh-CN': '泛域名 {name} 范围过大，大多数客户端不接受',
    en: 'the wildcard {name} is too broad, and most clients do not accept it',
  },
  notForServers: {
    'zh-CN': '证书的扩展密钥用法不包括服务器身份验证，客户端会拒绝它',
    en: 'the extended key usage of the certificate does not include servers, and clients refuse it',
  },
  keyMayNotSign: {
    'zh-CN': '证书的密钥用法不包括数字签名，浏览器会拒绝它',
    en: 'the key usage of the certificate does not include digital signatures, and browsers refuse it',
  },
  keyNotInBrowsers: {
    'zh-CN': '证书的密钥是 Ed25519，浏览器尚不支持',
    en: 'the key of the certificate is Ed25519, which browsers do not support yet',
  },
  mustStaple: {
    'zh-CN': '证书要求附带 OCSP 响应（must staple），而节点不发送，部分浏览器会拒绝它',
    en: 'the certificate demands an OCSP answer (must staple), which edges do not send, and some browsers refuse it',
  },
  weakSignature: {
    'zh-CN': '证书 {subject} 使用 SHA-1 或 MD5 签名，浏览器会拒绝它',
    en: 'the certificate {subject} is signed with SHA-1 or MD5, and browsers refuse it',
  },
  intermediateExpired: {
    'zh-CN': '中间证书 {subject} 已于 {time} 过期，需要它的客户端会拒绝证书链',
    en: 'the intermediate certificate {subject} expired at {time}, and clients that need it refuse the chain',
  },
  intermediateNotYetValid: {
    'zh-CN': '中间证书 {subject} 在 {time} 之前尚未生效，客户端会拒绝证书链',
    en: 'the intermediate certificate {subject} is not valid before {time}, and clients refuse the chain until then',
  },
  intermediateNotAuthority: {
    'zh-CN': '证书链中的 {subject} 不是证书颁发机构的证书，客户端会拒绝证书链',
    en: "the certificate {subject} in the chain is not a certificate authority's, and clients refuse the chain",
  },
  selfSigned: {
    'zh-CN': '证书是自签名的，只有安装了它的客户端才信任它',
    en: 'the certificate is self-signed, and only clients that have it installed trust it',
  },
  issuerMissing: {
    'zh-CN': '签发者 {issuer} 的证书不在文件中，该签发者也不是公认的证书颁发机构；不信任它的客户端会拒绝此证书',
    en: 'the issuer {issuer} is neither in the file nor a widely trusted authority, and clients that do not trust it refuse the certificate',
  },
  clientsRefuse: {
    'zh-CN': '测试时，即使是信任证书链末端的客户端也拒绝了该证书：{reason}',
    en: 'in a trial, a client that trusts the end of the chain still refused it: {reason}',
  },
};

/** The sentence for a warning; a value that is not there leaves its place as it stands. */
export function describeWarning(code: Code, values: Readonly<Record<string, string>>, locale: Locale): string {
  return TEXTS[code][locale].replace(/\{(\w+)\}/g, (place, name: string) => values[name] ?? place);
}
