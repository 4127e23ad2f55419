/** The errors of groups of edges: part of the table in `errors.ts`. */
import { refusal } from './error-row.ts';

export const GROUP_ERRORS = {
  groupNotFound: refusal('节点组 {group} 不存在', 'edge group {group} does not exist'),
  groupLimit: refusal('节点组已达上限 {limit}', 'the limit of {limit} edge groups is reached'),
  groupInUse: refusal(
    '节点组 {group} 正在使用：有 {edges} 个节点、{domains} 个域名',
    'edge group {group} is in use: it has {edges} edges and {domains} domains',
  ),
  groupParent: refusal(
    '节点组 {group} 不能通过 {parent} 回源：至多两级，且不能成环',
    'edge group {group} cannot fetch through {parent}: there are at most two groups between an edge and the origins, and no circle',
  ),
  groupIsParent: refusal(
    '节点组 {child} 通过节点组 {group} 回源：应先修改其设置',
    'edges of group {child} fetch through group {group}: change that first',
  ),
  groupLastDefault: refusal(
    '节点组 {group} 是唯一的默认组：应先将另一组设为默认',
    'edge group {group} is the only default one: make another group a default one first',
  ),
};
