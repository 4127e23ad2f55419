/** The errors of groups of edges: part of the table in `errors.ts`. */
import { refusal } from './error-row.ts';

export const GROUP_ERRORS = {
  groupNotFound: refusal('节点组 {group} 不存在', 'edge group {group} does not exist'),
  groupLimit: refusal('节点组已达上限 {limit}', 'the limit of {limit} edge groups is reached'),
  groupInUse: refusal(
    '节点组 {group} 正在使用：有 {edges} 个节点、{domains} 个域名',
    'edge group {group} is in use: it has {edges} edges and {domains} domains',
  ),
  groupLastDefault: refusal(
    '节点组 {group} 是唯一的默认组：应先将另一组设为默认',
    'edge group {group} is the only default one: make another group a default one first',
  ),
};
