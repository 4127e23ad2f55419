/** Texts of what an origin answered when it was tried. */

/** Why there is no answer, or edges would not store it: words of `X-Cache` that a plain GET can meet. */
const reasons = {
  noOrigin: 'there is no origin',
  originDns: 'its name does not resolve',
  originForbidden: 'edges do not connect to its address: ask the operator to open the network',
  noSocket: 'the service has no socket left',
  originConnect: 'the connection was refused, or cut before it was open',
  originConnectTimeout: 'no connection within the limit',
  originTls: 'the TLS handshake failed, or its certificate is not valid for the name',
  originTimeout: 'no answer within the limit',
  originReset: 'the connection ended before the answer',
  status: 'answers of this status are not stored',
  noStore: 'Cache-Control says no-store',
  noCache: 'Cache-Control or Pragma says no-cache',
  private: 'Cache-Control says private',
  setCookie: 'it sets a cookie',
  varyAny: 'Vary is *',
  notCacheable: 'it says nothing of its lifetime',
  noReuse: 'it has expired when it arrives, and has nothing to validate it with',
  otherScheme: 'it leads to the same address by the other scheme',
  policy: 'a policy of the domain forbids it',
  noPolicy: 'no policy of the domain matches',
};

const en = {
  address: 'Address',
  tls: 'TLS',
  noTls: 'none',
  answer: 'Answer',
  answered: (status: number, ms: number) => `${status}, connected after ${ms} ms`,
  silent: 'none',
  caching: 'Caching',
  cacheable: 'edges would store it',
  notCacheable: 'edges would not store it',
  reasons,
};

const zh: typeof en = {
  address: '地址',
  tls: 'TLS',
  noTls: '未使用',
  answer: '应答',
  answered: (status, ms) => `${status}，${ms} 毫秒建立连接`,
  silent: '无',
  caching: '缓存',
  cacheable: '节点会缓存',
  notCacheable: '节点不会缓存',
  reasons: {
    noOrigin: '没有源站',
    originDns: '域名无法解析',
    originForbidden: '节点不允许连接该地址，请联系运营方放行该网段',
    noSocket: '服务已无可用的套接字',
    originConnect: '连接被拒绝，或在建立前中断',
    originConnectTimeout: '未能在限定时间内建立连接',
    originTls: 'TLS 握手失败，或证书与域名不符',
    originTimeout: '未在限定时间内应答',
    originReset: '连接在应答前中断',
    status: '该状态码的应答不缓存',
    noStore: 'Cache-Control 为 no-store',
    noCache: 'Cache-Control 或 Pragma 为 no-cache',
    private: 'Cache-Control 为 private',
    setCookie: '应答带有 Set-Cookie',
    varyAny: 'Vary 为 *',
    notCacheable: '应答未说明有效期',
    noReuse: '到达时已过期，且无法验证',
    otherScheme: '跳转到同一地址的另一协议',
    policy: '域名的缓存策略不允许',
    noPolicy: '没有匹配的缓存策略',
  },
};

export const originAnswerText = { en, 'zh-CN': zh };
