/** The errors of people and their sessions: part of the table in `errors.ts`. */
import { refusal, row } from './error-row.ts';

export const PEOPLE_ERRORS = {
  notSignedIn: row(200, 2013, '尚未登录：请求没有会话 Cookie', 'not signed in: the request has no session cookie'),
  sessionEnded: row(200, 2013, '会话已结束，请重新登录', 'the session has ended; sign in again'),
  crossSite: row(
    403,
    2003,
    '请求来自其他网站：带会话 Cookie 的请求应由控制台自己的页面发出',
    "cross-site request: expected a call with a session cookie to come from the console's own pages",
  ),
  signInFailed: row(
    200,
    2013,
    '登录失败：邮箱、密码或验证方式有误',
    'sign-in failed: the e-mail address, the password or the proof is wrong',
  ),
  tooManySignIns: row(
    429,
    2013,
    '登录失败次数过多，请在 {seconds} 秒后重试；通行密钥不受影响',
    'too many failed sign-ins; try again in {seconds} s, or use a passkey at once',
  ),
  secondFactorAwaited: row(
    200,
    2013,
    '登录尚未完成：请先用 session.second 提交第二因素',
    'the sign-in is not complete: give the second factor with session.second',
  ),
  secondFactorNeeded: row(
    200,
    2003,
    '账户要求第二因素：请先启用动态口令或通行密钥，并以其登录',
    'the account asks for a second factor: set up TOTP or a passkey, and sign in with it',
  ),
  proofNeeded: row(
    200,
    2003,
    '此操作需要在 15 分钟内验证过身份：请先使用 session.second',
    'this operation needs a proof within the last 15 minutes: give one with session.second',
  ),
  roleLacksAccess: row(
    200,
    2003,
    '你的角色没有此操作所需的权限（{access}）；有此权限的角色：{roles}',
    'your role does not allow this: it takes the access {access}, which the roles {roles} have',
  ),
  lookReadOnly: row(
    200,
    2003,
    '你正在查看客户账户：只能查看，不能修改',
    "you look at a customer's account, which is read only",
  ),
  providerAbsent: refusal('没有配置身份提供方', 'there is no identity provider'),
  providerRefused: row(
    200,
    2013,
    '身份提供方未能确认登录，请重试',
    'the identity provider did not confirm the sign-in; try again',
  ),
  providerNotLinked: row(
    200,
    2013,
    '使用此邮箱的人员尚未关联身份提供方：请以其他方式登录，并在“安全”中关联',
    'the person with this address has not linked the identity provider: sign in otherwise, and link it under Security',
  ),
  identityTaken: refusal(
    '身份提供方的此身份已关联其他人员',
    'this identity of the provider is linked to another person',
  ),
  accountNotInView: row(
    200,
    2003,
    '没有当前账户：请用 session.use 选择账户',
    'no account in view: choose one with session.use',
  ),
  personMissing: refusal(
    '此操作针对登录的人员，而会话属于访问令牌',
    'this operation acts for a person, but the session acts for an access token',
  ),
  keepUnused: refusal(
    '字段 keep 无效：仅使用通行密钥登录时才能为 1',
    'field keep is invalid: expected 1 only with a passkey',
  ),
  passwordWeak: refusal('字段 password 无效：{reason}', 'field password is invalid: expected {reason}'),
  timeZoneUnknown: refusal(
    '字段 time_zone 无效，应为 IANA 时区名称；实际为：{found}',
    'field time_zone is invalid: expected the IANA name of a time zone; found {found}',
  ),
  totpPresent: refusal('动态口令已启用，请先停用', 'TOTP is on already; turn it off first'),
  totpAbsent: refusal('动态口令未启用', 'TOTP is not on'),
  totpNotBegun: refusal(
    '请先用 person.beginTotp 生成密钥',
    'there is no key to confirm: make one with person.beginTotp',
  ),
  codeWrong: refusal(
    '字段 code 无效：口令有误或已使用',
    'field code is invalid: expected a current code that was not used',
  ),
  passkeyRefused: refusal(
    '字段 passkey 无效：应答与质询不符，或质询已过期',
    'field passkey is invalid: expected the answer to a challenge of the last 5 minutes, given once',
  ),
  passkeyLimit: refusal('通行密钥已达上限 {limit}', 'the limit of {limit} passkeys is reached'),
  passkeyNotFound: refusal('通行密钥 {passkeyId} 不存在', 'passkey {passkeyId} does not exist'),
  sessionNotFound: refusal('会话 {sessionId} 不存在', 'session {sessionId} does not exist'),
  roleUnknown: refusal(
    '字段 role 无效：此账户的角色为 {roles}',
    'field role is invalid: expected a role of the kind of the account: {roles}',
  ),
  roleWidened: refusal(
    '字段 role 无效：不能授予或更改权限超过自己的角色',
    'field role is invalid: expected a role that may do no more than the caller',
  ),
  memberNotFound: refusal('账户没有成员 {personId}', 'the account has no member {personId}'),
  memberPresent: refusal('{email} 已是账户成员', '{email} is a member of the account already'),
  memberLast: refusal(
    '成员 {personId} 是账户最后一个 {role}，不能移除或改变角色',
    'member {personId} is the last {role} of the account: make another one first',
  ),
  memberElsewhere: refusal(
    '成员 {personId} 还属于其他账户，只有运营者能重置其密码',
    'member {personId} belongs to other accounts too: only an operator can reset the password',
  ),
  memberLimit: refusal(
    '账户的成员与邀请已达上限 {limit}',
    'the account has reached its limit of {limit} members and invitations',
  ),
  invitationNotFound: refusal(
    '链接无效、已使用或已过期',
    'the link is not valid: it was used, withdrawn, or has expired',
  ),
  signInToAccept: refusal('请先以 {email} 登录，再接受邀请', 'sign in as {email} first, then accept the invitation'),
  personSelf: refusal(
    '人员 {personId} 就是登录者，不能停用自己',
    'person {personId} is signed in and cannot be disabled by itself',
  ),
  personNotFound: refusal('人员 {personId} 不存在', 'person {personId} does not exist'),
} as const;
