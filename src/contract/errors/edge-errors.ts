/** The errors of operations on edges: part of the table in `errors.ts`. */
import { refusal } from './error-row.ts';

export const EDGE_ERRORS = {
  edgeNotFound: refusal('节点 {edge} 不存在', 'edge {edge} does not exist'),
  edgeGone: refusal(
    '节点 {edge} 的状态为 {state}，不能 {action}；如需再次使用，请重新注册',
    'edge {edge} is {state}; the action {action} is not possible: to use it again, enrol it anew',
  ),
  edgeReady: refusal(
    '节点 {edge} 的状态为 ready，正在服务；请先用 drain 排空，或指定 force',
    'edge {edge} is ready and serves viewers; drain it first, or set force',
  ),
  edgeDrainsItself: refusal(
    '节点 {edge} 由其自身排空，只能在该节点上用 causeway edge undrain --self 恢复',
    'edge {edge} is drained by its own operator; run causeway edge undrain --self on that machine',
  ),
} as const;
