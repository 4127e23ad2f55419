/** Texts that stand beside codes in answers. */

import type { Localized } from '../schema/locale.ts';
import type { CERTIFICATE_STATUSES } from './certificate-operations.ts';
import type { CDN_TYPES, DOMAIN_STATUS_CODES } from './domain-data.ts';
import type { CERTIFICATE_REQUEST_PROBLEMS, REQUEST_STATES } from './request-certificate-operations.ts';

export const CDN_TYPE_LABELS: Readonly<Record<(typeof CDN_TYPES)['codes'][number], Localized>> = {
  '1': { 'zh-CN': '静态加速', en: 'static' },
  '2': { 'zh-CN': '下载加速', en: 'download' },
  '3': { 'zh-CN': '点播加速', en: 'on-demand video' },
  '4': { 'zh-CN': '直播加速', en: 'live' },
  '6': { 'zh-CN': '动态加速', en: 'dynamic' },
};

export const DOMAIN_STATUS_LABELS: Readonly<Record<(typeof DOMAIN_STATUS_CODES)[number], Localized>> = {
  '0': { 'zh-CN': '已关闭', en: 'closed' },
  '1': { 'zh-CN': '配置中', en: 'being configured' },
  '2': { 'zh-CN': '加速中', en: 'accelerating' },
  '5': { 'zh-CN': '审核未通过', en: 'review rejected' },
  '6': { 'zh-CN': '已禁用', en: 'disabled' },
};

/** Shown beside code 1 when the domain waits for the operator. */
export const PENDING_LABEL: Localized = { 'zh-CN': '待审核', en: 'waiting for review' };

/** Shown beside code 0 while an edge may still serve the domain. */
export const CLOSING_LABEL: Localized = { 'zh-CN': '关闭中', en: 'being closed' };

/** What is done to a domain that changes its state: completes "can be …" and 才能…. */
export const ACTION_LABELS = {
  close: { 'zh-CN': '停用', en: 'closed' },
  open: { 'zh-CN': '启用', en: 'opened' },
  approve: { 'zh-CN': '审核通过', en: 'approved' },
  reject: { 'zh-CN': '驳回', en: 'rejected' },
  disable: { 'zh-CN': '禁用', en: 'disabled' },
  enable: { 'zh-CN': '解除禁用', en: 'enabled' },
} as const satisfies Readonly<Record<string, Localized>>;

export const CERTIFICATE_STATUS_LABELS: Readonly<Record<(typeof CERTIFICATE_STATUSES)[number], Localized>> = {
  InUse: { 'zh-CN': '使用中', en: 'in use' },
  Unused: { 'zh-CN': '未使用', en: 'not in use' },
  Expired: { 'zh-CN': '已过期', en: 'expired' },
};

export const REQUEST_STATE_LABELS: Readonly<Record<(typeof REQUEST_STATES)[number], Localized>> = {
  none: { 'zh-CN': '无申请', en: 'none' },
  pending: { 'zh-CN': '申请中', en: 'requested' },
  challenged: { 'zh-CN': '验证中', en: 'being validated' },
  issued: { 'zh-CN': '已签发', en: 'issued' },
  failed: { 'zh-CN': '失败', en: 'failed' },
};

export const REQUEST_PROBLEM_LABELS: Readonly<Record<(typeof CERTIFICATE_REQUEST_PROBLEMS)[number], Localized>> = {
  unreachable: { 'zh-CN': '暂时无法访问证书颁发机构', en: 'the certificate authority is temporarily unreachable' },
  refused: { 'zh-CN': '证书颁发机构拒绝了申请', en: 'the certificate authority refused the request' },
  limited: { 'zh-CN': '超出频率限制，须等待', en: 'a rate limit is exceeded; it waits' },
  validation: {
    'zh-CN': '证书颁发机构未能验证域名：域名须解析到本服务',
    en: 'the certificate authority could not validate the name: it must resolve to this service',
  },
  edges: { 'zh-CN': '并非所有节点都已就绪', en: 'not every edge was ready' },
  expired: { 'zh-CN': '未在一小时内完成', en: 'it was not completed within an hour' },
  unusable: { 'zh-CN': '签发的证书无法使用', en: 'the issued certificate cannot be used' },
  accountFull: { 'zh-CN': '账户的证书数量已达上限', en: 'the account has reached its limit of certificates' },
  replaced: {
    'zh-CN': '申请已结束：域名已改用其他证书，或关闭了 HTTPS',
    en: 'the request has ended: the domain was given another certificate, or none',
  },
};

export const SUCCESS: Localized = { 'zh-CN': '操作成功', en: 'success' };
