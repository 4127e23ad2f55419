/**
 * Every way in which a call can fail: one table. `docs/errors.md` shows the same table and a test compares them. The codes
 * are stable (header `x-error-code`), the texts are for people. docs/decisions/0011
 */
import { EDGE_ERRORS } from './edge-errors.ts';
import { type ErrorRow, refusal, row } from './error-row.ts';
import { FLEET_ERRORS } from './fleet-errors.ts';
import { GROUP_ERRORS } from './group-errors.ts';
import { LIVE_ERRORS } from './live-errors.ts';
import { PEOPLE_ERRORS } from './people-errors.ts';
import { PROTECTION_ERRORS } from './protection-errors.ts';
import { SINK_ERRORS } from './sink-errors.ts';
import { SMS_ERRORS } from './sms-errors.ts';
import { VIEW_ERRORS } from './view-errors.ts';

export const ERRORS = {
  fieldMissing: refusal('缺少字段 {field}，应为：{expected}', 'field {field} is missing: expected {expected}'),
  fieldInvalid: refusal(
    '字段 {field} 无效，应为：{expected}；实际为：{found}',
    'field {field} is invalid: expected {expected}; found {found}',
  ),
  entryInvalid: refusal(
    '字段 {field} 无效，应为：{expected}；而 {entry} {reason}',
    'field {field} is invalid: expected {expected}, but {entry} {reason}',
  ),
  entryRepeated: refusal(
    '字段 {field} 无效：应为不重复的内容，而 {entry} 与 {first} 相同',
    'field {field} is invalid: expected unique entries, but {entry} duplicates {first}',
  ),
  domainNameInvalid: refusal(
    '字段 domain 无效，应为可加速的域名，如 www.example.com 或 *.example.com；而 {entry} {reason}',
    'field domain is invalid: expected a domain name such as www.example.com or *.example.com, but {entry} {reason}',
  ),
  originInvalid: refusal(
    '字段 {field} 无效，应为域名、域名:端口、IP、IP:端口或 [IPv6]:端口；而 {entry} {reason}',
    'field {field} is invalid: expected host, host:port, IP, IP:port or [IPv6]:port, but {entry} {reason}',
  ),
  originsMissing: refusal(
    '字段 data 无效：应至少有一个源站地址（仅直播域名可以为空）',
    'field data is invalid: expected at least one origin address (only a live domain may have none)',
  ),
  settingsInvalid: refusal('配置无法在节点上运行：{problem}', 'edges cannot apply these settings: {problem}'),

  tokenUnknown: row(200, 2013, 'access_token 无效', 'access_token is invalid'),
  tokenExpired: row(200, 2013, 'access_token 已过期', 'access_token has expired'),
  tokenRevoked: row(200, 2013, 'access_token 已被吊销', 'access_token has been revoked'),
  tokenReplaced: row(
    200,
    2013,
    'access_token 已被更换（轮换），请使用新的令牌',
    'access_token was replaced when its token was rotated; use the new one',
  ),
  scopeMissing: row(
    200,
    2003,
    'access_token 没有所需的权限 {scope}',
    'access_token lacks the scope {scope} required by this operation',
  ),
  accessMissing: row(
    200,
    2003,
    'access_token 没有所需的操作权限 {access}',
    'access_token lacks the access {access} required by this operation',
  ),
  domainsLimited: row(
    200,
    2003,
    'access_token 仅限部分域名，不能用于针对整个账户的操作',
    'access_token is limited to some domains and this operation concerns the whole account',
  ),
  addressNotAllowed: row(
    200,
    2003,
    'access_token 不允许从地址 {address} 使用',
    'access_token may not be used from the address {address}',
  ),

  revisionChanged: refusal(
    '域名 {domainId} 的配置已被修改：revision 现为 {revision}，不是 {given}{changed}；当前配置：{current}',
    'the settings of domain {domainId} have changed: their revision is {revision}, not {given}{changed}; the current settings are {current}',
  ),
  domainRevisionNotFound: refusal(
    '域名 {domainId} 没有保留版本 {revision}',
    'domain {domainId} has no revision {revision} that is kept',
  ),
  auditEventNotFound: refusal('操作审计 {id} 不存在', 'audit event {id} does not exist'),
  checkTooSoon: refusal(
    '该域名刚刚检查过，请在 {seconds} 秒后重试',
    'this domain has just been checked; try again in {seconds} s',
  ),
  edgeSilent: refusal(
    '没有节点在 {seconds} 秒内应答，或节点尚无该域名的配置',
    'no edge answered within {seconds} s, or the edge does not have the domain yet',
  ),
  tailsFull: row(
    429,
    2010,
    '同时跟踪的日志过多：每个账户至多 {limit} 个',
    'too many logs are being followed: at most {limit} of an account at once',
  ),
  domainNotFound: refusal('域名 {domainId} 不存在', 'domain {domainId} does not exist'),
  domainDuplicate: refusal('域名 {name} 已存在', 'domain {name} already exists'),
  domainNameTaken: refusal(
    '域名 {name} 已被占用，或与其他账户的域名（泛域名）重叠',
    'domain {name} is already in use by another account or overlaps with its wildcard domain',
  ),
  domainLimit: refusal('域名数量已达上限 {limit}', 'the account has reached its limit of {limit} domains'),
  domainDisabled: refusal(
    '域名 {domainId} 已被禁用（6），由运营方解除禁用之前不能修改',
    'domain {domainId} is disabled (6) and cannot be changed until an operator enables it',
  ),
  domainStatusRefused: refusal(
    '域名 {domainId} 的状态为{state}；只有状态为{allowed}的域名才能{action}',
    'domain {domainId} is {state}; only a domain that is {allowed} can be {action}',
  ),

  pemInvalid: refusal(
    '字段 {field} 无效，应为：{expected}；而其内容{reason}',
    'field {field} is invalid: expected {expected}, but it {reason}',
  ),
  certificateNotFound: refusal('证书 {sslKey} 不存在', 'certificate {sslKey} does not exist'),
  certificateLimit: refusal('证书数量已达上限 {limit}', 'the account has reached its limit of {limit} certificates'),
  certificateInUse: refusal(
    '证书正被域名 {domains} 使用，不能删除；请先用 /config/setSslInfo 更换或关闭',
    'the certificate is used by {domains} and cannot be deleted; first replace it or turn HTTPS off with /config/setSslInfo',
  ),
  certificateNotCovering: refusal(
    '字段 {field} 无效：证书适用于 {names}，不适用于域名 {name}',
    'field {field} is invalid: the certificate is valid for {names}, not for the domain {name}',
  ),
  certificateExpired: refusal(
    '字段 {field} 无效：证书已于 {time} 过期',
    'field {field} is invalid: the certificate expired at {time}',
  ),
  certificateSameKind: refusal(
    '字段 ssl_key_second 无效：应为密钥类型与 ssl_key 不同的证书，而两者都是 {kind}',
    'field ssl_key_second is invalid: expected a certificate with a different key type than that of ssl_key, but both are {kind}',
  ),
  certificatesNotObtained: refusal(
    '本服务未开启证书自动申请：运营者需设置 acme-directory',
    'obtaining certificates is not enabled on this service; its operator must set acme-directory',
  ),
  wildcardNotObtained: refusal(
    '泛域名 {name} 不能自动申请证书：HTTP-01 验证不支持泛域名，请用 /config/addCertificate 添加',
    'a certificate for the wildcard {name} cannot be obtained because HTTP-01 does not support wildcards; add one with /config/addCertificate',
  ),
  certificateRequestLimit: refusal(
    '每个域名每天最多申请 {limit} 次证书，请稍后重试',
    'certificates can be requested at most {limit} times a day per domain; try again later',
  ),
  domainHasCertificate: refusal(
    '域名 {domainId} 正在使用账户的证书，不能转移；请先用 /config/setSslInfo 关闭',
    'domain {domainId} uses a certificate of its account and cannot be transferred; first turn HTTPS off with /config/setSslInfo',
  ),

  urlInvalid: refusal(
    '字段 {field} 无效，应为网址，如 http://www.example.com/a.jpg；而 {entry} {reason}',
    'field {field} is invalid: expected a URL such as http://www.example.com/a.jpg, but {entry} {reason}',
  ),
  hostNotFound: refusal(
    '字段 {field} 无效：账户没有域名 {host}',
    'field {field} is invalid: the account has no domain {host}',
  ),
  purgeEmpty: refusal(
    '没有要刷新的内容：应有 urls、directories 或 domain_id',
    'there is nothing to purge: expected urls, directories or domain_id',
  ),
  purgeAmbiguous: refusal(
    'domain_id 会刷新整个域名，不能与 urls、directories 一起使用',
    'domain_id purges the whole domain and cannot go together with urls or directories',
  ),
  prefetchEmpty: refusal('字段 urls 无效：应至少有一个网址', 'field urls is invalid: expected at least one URL'),
  tooManyItems: refusal(
    '一次最多 {limit} 项，实际为 {count} 项',
    'expected at most {limit} items per call, but found {count}',
  ),
  purgeUrlLimit: refusal(
    '今天的网址刷新额度为 {limit}，剩余 {remaining}，不足以完成本次请求',
    'the account can purge {limit} URLs a day; only {remaining} remain today',
  ),
  purgeDirectoryLimit: refusal(
    '今天的目录刷新额度为 {limit}，剩余 {remaining}，不足以完成本次请求',
    'the account can purge {limit} directories and domains a day; only {remaining} remain today',
  ),
  prefetchLimit: refusal(
    '今天的预热额度为 {limit}，剩余 {remaining}，不足以完成本次请求',
    'the account can prefetch {limit} URLs a day; only {remaining} remain today',
  ),
  taskNotFound: refusal('任务 {taskId} 不存在', 'task {taskId} does not exist'),

  timeRangeReversed: refusal(
    '字段 starttime 无效：应不晚于 endtime',
    'field starttime is invalid: expected a time that is not after endtime',
  ),
  timeRangeTooLong: refusal(
    '字段 starttime 无效：interval 为 {interval} 时一次至多查询 {span}',
    'field starttime is invalid: expected at most {span} in one call when interval is {interval}',
  ),

  addressInvalid: row(403, 2001, '下载地址无效', 'the download URL is invalid'),
  addressExpired: row(
    403,
    2001,
    '下载地址已过期，请重新查询列表',
    'the download URL has expired; request the list again',
  ),
  logFileNotFound: row(404, 2001, '日志文件不存在', 'the log file does not exist'),

  ...SMS_ERRORS,
  accountNotNamed: refusal(
    '缺少字段 account_id：只有一个客户账户时才能省略',
    'field account_id is missing: it may be omitted only if there is exactly one customer account',
  ),

  accountDisabled: row(200, 2005, '账户已停用', 'the account is disabled'),
  accountOwn: refusal(
    '账户 {accountId} 是当前令牌所属的账户，不能停用',
    'account {accountId} owns the access token in use and cannot be disabled with it',
  ),
  ...FLEET_ERRORS,
  ...LIVE_ERRORS,
  ...EDGE_ERRORS,
  ...GROUP_ERRORS,
  ...SINK_ERRORS,
  ...PROTECTION_ERRORS,
  ...PEOPLE_ERRORS,
  ...VIEW_ERRORS,

  accountNotFound: row(200, 2005, '账户 {accountId} 不存在', 'account {accountId} does not exist'),
  accountNotCustomer: refusal(
    '账户 {accountId} 不是客户账户，不能拥有域名',
    'account {accountId} is not a customer account and cannot have domains',
  ),
  tokenLimit: refusal(
    '可用令牌数量已达上限 {limit}，请先吊销不用的令牌',
    'the account has reached its limit of {limit} tokens; revoke one that is not needed',
  ),
  tokenEnded: refusal(
    '令牌 {tokenId} 已被吊销或已过期，不能更换',
    'token {tokenId} has been revoked or has expired and cannot be rotated',
  ),
  tokenLast: refusal(
    '令牌 {tokenId} 是账户最后一个具有操作权限 manage 的令牌，不能吊销；请先创建另一个',
    'token {tokenId} is the last one of the account with the access manage and cannot be revoked; create another one first',
  ),
  accountMissing: refusal(
    '此操作针对 access_token 所属的账户，而本机命令行没有账户',
    'this operation acts for the account of an access_token; the command line of this machine has none',
  ),
  tokenNotFound: refusal('令牌 {tokenId} 不存在', 'token {tokenId} does not exist'),
  expiryPast: refusal(
    '字段 expires_at 无效：应为将来的时间（Unix 秒），而 {given} 是 {moment}',
    'field expires_at is invalid: expected a time in the future (Unix seconds), but {given} is {moment}',
  ),
  scopesRefused: refusal(
    '字段 scopes 无效：应为账户类型允许的权限（{allowed}）',
    'field scopes is invalid: expected scopes that the kind of the account allows: {allowed}',
  ),
  scopesWidened: refusal(
    '字段 scopes 无效：应为令牌自身权限（{present}）的子集',
    'field scopes is invalid: expected no more scopes than the token has: {present}',
  ),
  accessWidened: refusal(
    '字段 access 无效：应为令牌自身操作权限（{present}）的子集',
    'field access is invalid: expected no more access than the token has: {present}',
  ),
  domainIdsWidened: refusal(
    '字段 domain_ids 无效：应为令牌自身域名（{present}）的子集',
    'field domain_ids is invalid: expected no more domains than the token has: {present}',
  ),
  addressesWidened: refusal(
    '字段 addresses 无效：应在令牌自身的地址范围（{present}）之内',
    'field addresses is invalid: expected addresses within those of the token: {present}',
  ),
  expiryWidened: refusal(
    '字段 expires_at 无效：应不晚于令牌自身的过期时间 {present}（{moment}）',
    'field expires_at is invalid: expected a time no later than {present} ({moment}), when the token expires',
  ),
  domainIdsUnused: refusal(
    '字段 domain_ids 无效：仅当 scopes 只有 cdn 时才能使用',
    'field domain_ids is invalid: expected only with cdn as the one scope',
  ),

  idempotencyKeyInvalid: refusal(
    '请求头 Idempotency-Key 无效：应为 1 到 255 个可见 ASCII 字符',
    'the header Idempotency-Key is invalid: expected 1 to 255 visible ASCII characters',
  ),
  idempotencyKeyReused: refusal(
    '该 Idempotency-Key 在 24 小时内已用于另一请求：应与首次请求的令牌和内容相同',
    'the Idempotency-Key was used within 24 hours for another request: expected the token and the body of the first one',
  ),
  idempotencyKeyLimit: refusal(
    '账户 24 小时内使用的 Idempotency-Key 已达上限 {limit}',
    'the account has reached its limit of {limit} Idempotency-Keys within 24 hours',
  ),

  bodyNotJson: row(
    400,
    2001,
    '请求体应为一个 UTF-8 编码的 JSON 对象',
    'the body must be a JSON object encoded as UTF-8',
  ),
  plainHttp: row(
    400,
    2001,
    '此端口只接受 HTTPS，而请求是明文 HTTP：地址应以 https:// 开头',
    'this port accepts HTTPS only, but the request used plain HTTP; use an https:// URL',
  ),
  requestMalformed: row(400, 2001, 'HTTP 请求格式错误', 'malformed HTTP request'),
  pathUnknown: row(404, 2001, '接口不存在', 'unknown operation'),
  methodNotAllowed: row(405, 2001, '应使用方法 {allow}', 'expected the method {allow}'),
  requestTimeout: row(408, 2001, '请求超时', 'the request did not arrive in time'),
  bodyTooLarge: row(413, 2001, '请求体超过 {limit} 字节', 'the body is larger than {limit} bytes'),
  contentTypeWrong: row(
    415,
    2001,
    'Content-Type 应为 application/json; charset=utf-8，且请求体不压缩',
    'expected Content-Type: application/json; charset=utf-8 and an uncompressed body',
  ),
  tooManyRequests: row(
    429,
    2010,
    '请求过于频繁，请在 {seconds} 秒后重试',
    'too many requests; try again in {seconds} s',
  ),
  tooManyFailedTokens: row(
    429,
    2013,
    '此地址的无效 access_token 过多，请在 {seconds} 秒后重试',
    'too many invalid access_tokens from this address; try again in {seconds} s',
  ),
  headersTooLarge: row(431, 2001, '请求头过大', 'the request headers are too large'),
  notReady: row(
    503,
    2010,
    '服务尚未就绪：数据库无响应或不可写入，请在 {seconds} 秒后重试',
    'not ready: the database does not respond or is not writable; try again in {seconds} s',
  ),
  internal: row(500, 2010, '服务内部错误，请求号 {requestId}', 'internal error: request {requestId} failed'),
} as const satisfies Readonly<Record<string, ErrorRow>>;

export type ErrorCode = keyof typeof ERRORS;
