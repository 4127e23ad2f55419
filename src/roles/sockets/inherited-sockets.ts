/**
 * Listening sockets that systemd has opened for this service. Each belongs to the listener that it is named after
 * (`FileDescriptorName=`), or, if its unit gives it no name, to the one with its port. They are there before the service
 * and after it, so that no connection is refused while it starts.
 */
import type { ListenVariables } from '#config';
import { formatListenAddress, type ListenAddress } from '#lib/listen-address.ts';
import { LISTENER_NAMES, type ListenerName } from './listeners.ts';

/** Sockets of one listener. */
export interface InheritedListener {
  /** Address of the first socket. */
  readonly address: ListenAddress;
  readonly descriptors: readonly number[];
}

export type InheritedSockets =
  | { readonly kind: 'sockets'; readonly listeners: ReadonlyMap<ListenerName, InheritedListener> }
  /** `problems` are for people; each names the socket. */
  | { readonly kind: 'refused'; readonly problems: readonly string[] };

/** Descriptor of the first socket. sd_listen_fds(3) */
const FIRST_DESCRIPTOR = 3;

/** Name of a socket that has none of its own: that of its unit. systemd.socket(5) */
const UNIT_NAME = /\.socket$/;

export interface InheritedQuestions {
  /** Listeners that the settings ask for, with their ports. */
  readonly wanted: ReadonlyMap<ListenerName, number>;
  /** Returns the address of a listening TCP socket; `undefined` for other descriptors. */
  addressOf(descriptor: number): ListenAddress | undefined;
}

/** Reads which socket is for which listener. Without sockets the result is empty. Pure but for `addressOf`. */
export function readInheritedSockets(
  { descriptors, names }: ListenVariables,
  { wanted, addressOf }: InheritedQuestions,
): InheritedSockets {
  const count = Number(descriptors);
  if (!Number.isInteger(count) || count < 0)
    return refused(`LISTEN_FDS: expected a number of sockets; found ${JSON.stringify(descriptors)}`);
  const given = names === '' ? [] : names.split(':');
  if (given.length !== count)
    return refused(`LISTEN_FDNAMES: expected ${count} names, as many as LISTEN_FDS says; found ${given.length}`);
  const listeners = new Map<ListenerName, InheritedListener>();
  const problems: string[] = [];
  for (const [index, text] of given.entries()) {
    const descriptor = FIRST_DESCRIPTOR + index;
    const address = addressOf(descriptor);
    const name = UNIT_NAME.test(text)
      ? LISTENER_NAMES.find((one) => address !== undefined && wanted.get(one) === address.port)
      : LISTENER_NAMES.find((one) => one === text);
    if (name === undefined && UNIT_NAME.test(text) && address !== undefined)
      problems.push(
        `socket ${descriptor} (${text}) listens on ${formatListenAddress(address)}; expected the port of a listener of the settings`,
      );
    else if (name === undefined)
      problems.push(`socket ${descriptor} is named ${JSON.stringify(text)}; expected ${LISTENER_NAMES.join(', ')}`);
    else if (!wanted.has(name)) problems.push(`socket ${descriptor} is named ${name}, a listener that is off`);
    else if (address === undefined) problems.push(`socket ${descriptor} (${name}) is not a listening TCP socket`);
    else {
      const known = listeners.get(name);
      listeners.set(name, {
        address: known?.address ?? address,
        descriptors: [...(known?.descriptors ?? []), descriptor],
      });
    }
  }
  return problems.length > 0 ? { kind: 'refused', problems: problems.map(explain) } : { kind: 'sockets', listeners };
}

function refused(problem: string): InheritedSockets {
  return { kind: 'refused', problems: [explain(problem)] };
}

function explain(problem: string): string {
  return `cannot use the sockets from systemd: ${problem}`;
}
