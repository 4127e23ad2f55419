/**
 * The link from an edge to control: the unix socket of this machine, or HTTPS to one of several controls. Their order
 * is random at each start; after a failure, the next one is used. docs/decisions/0591
 */
import type { KeyObject } from 'node:crypto';
import { type ClientRequest, request as httpRequest, type OutgoingHttpHeaders, type RequestOptions } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import type { ConnectionOptions } from 'node:tls';
import { SEAL_HEADER } from '../wire/protocol.ts';
import { formatSealKey } from '../wire/view-key-box.ts';

/** Limit of addresses, from the settings and the announcement together. */
export const MAX_CONTROLS = 32;
/** Connections for short requests, beside the stream. */
const MAX_SHORT_CONNECTIONS = 2;
const KEEP_ALIVE_MS = 30_000;

/** The identity of this edge according to its certificate. */
export interface EdgeCredentials {
  readonly edge: string;
  readonly fleet: string;
  /** Serial number of the certificate; it changes at a renewal. */
  readonly serial: string;
  /** X25519 private key: opens view keys that were sealed to this edge. */
  readonly sealKey: KeyObject;
  /** Fields of every request. */
  readonly fields: Readonly<Record<string, string>>;
  /** Options with the key, the certificate, the authorities and the name that control must have. */
  tls(): ConnectionOptions;
}

/** A request and its control. */
interface OpenedRequest {
  readonly outgoing: ClientRequest;
  /** Notes that this control did not answer. If it is still the one in use, the link turns to the next one. */
  noteFailure(): void;
}

interface LinkRequest extends RequestOptions {
  readonly headers: OutgoingHttpHeaders;
}

export interface ControlLink extends Disposable {
  /** Whether control is on another machine. */
  readonly isRemote: boolean;
  /** Address of the control in use, or the path of its socket. */
  readonly control: string;
  /** Number of controls to choose from. */
  readonly controlCount: number;
  /** All of them, the one in use first. */
  readonly controls: readonly string[];
  /** Serial number of the certificate in use; `undefined` on the unix socket. */
  readonly serial: string | undefined;
  /** Identity of this edge; absent on the unix socket. */
  readonly credentials: EdgeCredentials | undefined;
  /** Opens a request to the control in use, or to another one. `isStream`: it gets a connection of its own. */
  open(options: LinkRequest, isStream: boolean, control?: string): OpenedRequest;
  /** Turns to the next control. */
  turn(): void;
  /** Replaces the announced controls. */
  announce(addresses: readonly string[]): void;
}

export function openSocketLink(socketPath: string): ControlLink {
  return {
    isRemote: false,
    control: socketPath,
    controlCount: 1,
    controls: [socketPath],
    serial: undefined,
    credentials: undefined,
    open: (options) => ({ outgoing: httpRequest({ ...options, socketPath, agent: false }), noteFailure() {} }),
    turn() {},
    announce() {},
    [Symbol.dispose]() {},
  };
}

export interface FleetLinkOptions {
  /** `https://host:port`, at least one. */
  readonly controls: readonly string[];
  /** Called for each request, so that a renewed certificate is used at once. */
  readonly credentials: () => EdgeCredentials;
  /** 0 ≤ random < 1. */
  readonly random: () => number;
}

export function openFleetLink({ controls, credentials, random }: FleetLinkOptions): ControlLink {
  let order = shuffle(controls, random);
  let place = 0;
  let pool: { readonly serial: string; readonly agent: Agent } | undefined;
  let seal: { readonly key: KeyObject; readonly text: string } | undefined;
  const current = () => order[place % order.length] ?? '';
  const agentOf = (serial: string): Agent => {
    if (pool?.serial === serial) return pool.agent;
    pool?.agent.destroy(); // connections with the replaced certificate must not be used again
    const agent = new Agent({ keepAlive: true, maxSockets: MAX_SHORT_CONNECTIONS, timeout: KEEP_ALIVE_MS });
    pool = { serial, agent };
    return agent;
  };
  const sealTextOf = (key: KeyObject): string => {
    if (seal?.key !== key) seal = { key, text: formatSealKey(key) }; // takes longer than the rest of a request
    return seal.text;
  };
  const turn = () => {
    place += 1;
  };
  return {
    isRemote: true,
    get control() {
      return current();
    },
    get controlCount() {
      return order.length;
    },
    get controls() {
      const first = place % order.length;
      return [...order.slice(first), ...order.slice(0, first)];
    },
    get serial() {
      return credentials().serial;
    },
    get credentials() {
      return credentials();
    },
    open(options, isStream, address = current()) {
      const { hostname, port } = new URL(address);
      const own = credentials();
      const outgoing = httpsRequest({
        ...own.tls(),
        ...options,
        headers: { ...options.headers, ...own.fields, [SEAL_HEADER]: sealTextOf(own.sealKey) },
        host: hostname.replace(/^\[|\]$/g, ''),
        port,
        agent: isStream ? false : agentOf(own.serial),
      });
      return {
        outgoing,
        noteFailure() {
          if (current() === address) turn();
        },
      };
    },
    turn,
    announce(addresses) {
      const next = mergeControls(controls, addresses.filter(isControlAddress));
      if (next.length === order.length && next.every((each) => order.includes(each))) return;
      const inUse = current();
      order = shuffle(next, random);
      place = Math.max(0, order.indexOf(inUse));
    },
    [Symbol.dispose]() {
      pool?.agent.destroy();
    },
  };
}

/** Whether the text is `https://host:port` and nothing more. */
export function isControlAddress(text: string): boolean {
  if (!/^https:\/\/[^/?#@\s]+$/.test(text) || !URL.canParse(text)) return false;
  return /:\d{1,5}$/.test(text);
}

function mergeControls(given: readonly string[], announced: readonly string[]): readonly string[] {
  return [...new Set([...given, ...announced])].slice(0, MAX_CONTROLS);
}

/** Returns the list in random order. `random`: 0 ≤ random < 1. */
export function shuffle(list: readonly string[], random: () => number): readonly string[] {
  return list
    .map((each) => ({ each, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ each }) => each);
}
