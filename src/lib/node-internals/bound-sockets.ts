/**
 * TCP sockets that are bound and nothing else: this process never listens on them or accepts from them. Processes that
 * it starts get their descriptors and do. Connections that wait in such a socket outlive the process that listens on
 * it. Node itself binds a socket only in order to listen on it. docs/decisions/0570
 */
import { isIPv6 } from 'node:net';
import { handleOfNewSocket } from './new-socket.ts';

export interface BoundSocket extends Disposable {
  readonly descriptor: number;
  readonly port: number;
}

/** Methods of Node's own handles return 0 or a negative error number. */
interface Handle {
  readonly fd: number;
  bind(address: string, port: number, flags: number): number;
  bind6(address: string, port: number, flags: number): number;
  listen(backlog: number): number;
  getsockname(into: { port?: number }): number;
  close(): void;
}

/** `UV_TCP_REUSEPORT` of libuv. */
const REUSE_PORT = 2;
/** `TCPConstants.SERVER` of Node, the kind of handle that a server has. */
const SERVER = 1;

/**
 * Binds a socket that shares its port (`SO_REUSEPORT`) with the others that this function binds there. `host`: an IP
 * address; `port` 0: a free one. Returns `undefined` if the address cannot be bound.
 */
export function bindSocket(host: string, port: number): BoundSocket | undefined {
  const handle = createHandle();
  if (handle === undefined) return undefined;
  const bind = isIPv6(host) ? handle.bind6 : handle.bind;
  const name: { port?: number } = {};
  // libuv reports an address in use only when it listens. Such a socket has no port.
  const isBound = bind.call(handle, host, port, REUSE_PORT) === 0 && handle.getsockname(name) === 0;
  if (!isBound || name.port === undefined || name.port === 0 || (port !== 0 && name.port !== port)) {
    handle.close();
    return undefined;
  }
  return { descriptor: handle.fd, port: name.port, [Symbol.dispose]: () => handle.close() };
}

function createHandle(): Handle | undefined {
  const known = handleOfNewSocket();
  const create: unknown = typeof known === 'object' && known !== null ? known.constructor : undefined;
  if (typeof create !== 'function') return undefined;
  const handle: unknown = Reflect.construct(create, [SERVER]);
  return isHandle(handle) ? handle : undefined;
}

function isHandle(handle: unknown): handle is Handle {
  const methods = ['bind', 'bind6', 'listen', 'getsockname', 'close'];
  return typeof handle === 'object' && handle !== null && 'fd' in handle && methods.every((name) => name in handle);
}

/** Whether Node's handles bind in this way, and sockets of one port can both listen. */
export function canBindSockets(): boolean {
  const handles: Handle[] = [];
  try {
    let port = 0;
    for (let i = 0; i < 2; i++) {
      const handle = createHandle();
      if (handle === undefined) return false;
      handles.push(handle);
      const name: { port?: number } = {};
      const isBound = handle.bind('127.0.0.1', port, REUSE_PORT) === 0 && handle.getsockname(name) === 0;
      if (!isBound || handle.fd < 0 || name.port === undefined || handle.listen(1) !== 0) return false;
      port = name.port;
    }
    return port > 0;
  } catch {
    return false; // an unknown version of Node
  } finally {
    for (const handle of handles) handle.close();
  }
}
