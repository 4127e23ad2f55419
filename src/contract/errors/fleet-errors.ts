/** The errors of identities of edges: part of the table in `errors.ts`. */
import { refusal } from './error-row.ts';

export const FLEET_ERRORS = {
  edgeNotEnrolled: refusal('节点 {edge} 尚未注册', 'edge {edge} is not enrolled'),
  edgeEnrolled: refusal(
    '节点 {edge} 已存在；请先吊销，或使用其他名称',
    'edge {edge} exists already; revoke it first, or use another id',
  ),
  edgeTokenNotFound: refusal('节点令牌 {tokenId} 不存在', 'edge token {tokenId} does not exist'),
  fleetHasNoTokens: refusal(
    '节点使用自有 CA 签发的证书（fleet-ca），没有节点令牌；请用 /operator/addEdge 添加节点',
    'edges have certificates of your own authority (fleet-ca) and need no token; add them with /operator/addEdge',
  ),
  edgeTokenUses: refusal(
    '字段 uses 无效：指定 edge_id 时应为 1',
    'field uses is invalid: expected 1 for a token of one named edge',
  ),
  edgeTokenReplace: refusal(
    '字段 replace 无效：只能与 edge_id 一起使用',
    'field replace is invalid: expected only for a token of one named edge',
  ),
  edgeSerialUnknown: refusal(
    '字段 serial 无效：节点 {edge} 没有此证书，或证书已吊销',
    'field serial is invalid: edge {edge} has no such certificate, or it is revoked',
  ),
  fleetCaMissing: refusal(
    '尚无集群 CA：创建第一个节点令牌时会生成',
    'the fleet has no certificate authority yet; the first edge token creates it',
  ),
  fleetCaUnderWay: refusal(
    '集群 CA 正在更换；请先用 finish 完成',
    'a rotation of the certificate authority is in progress; finish it first',
  ),
  fleetCaNotBegun: refusal('集群 CA 并未在更换', 'no rotation of the certificate authority is in progress'),
  fleetCaInUse: refusal(
    '旧的集群 CA 仍在使用：节点 {edges}；节点令牌 {tokens}；请等待节点续期，或将其吊销',
    'the old certificate authority is still in use by edges ({edges}) and edge tokens ({tokens}): wait until the edges have renewed, or revoke them',
  ),
} as const;
