/** Identities of edges, their words on the wire. Used by `wire.ts` only. */
import type { DataOf, RequestOf } from '#contract/operations.ts';
import { TOKEN_ADDRESSES } from '#contract/operators/token-fields.ts';
import { toModelNames } from '#lib/model-names.ts';
import { DEFAULT_GROUP, type EdgeToken } from '#model/fleet.ts';
import { parseAddressEntry } from '#sites/address-list.ts';
import { entriesOf, readList } from './wire-access.ts';
import { writeFlag, writeSeconds } from './wire-values.ts';

const DEFAULT_VALID_SECONDS = 3600;

export const READ_FLEET = {
  'fleetOperator.createToken': (request: RequestOf<'fleetOperator.createToken'>) => {
    const { addresses = [], labels = [], valid_seconds = DEFAULT_VALID_SECONDS } = request;
    const networks = entriesOf(readList('addresses', TOKEN_ADDRESSES.each, parseAddressEntry, addresses));
    return {
      group: request.group ?? DEFAULT_GROUP,
      edge: request.edge_id,
      labels: Object.fromEntries(labels.map(splitLabel)),
      addresses: networks === undefined || networks.length === 0 ? undefined : networks,
      validMs: valid_seconds * 1000,
      uses: request.uses ?? 1,
      replaces: request.replace ?? false,
    };
  },
  'fleetOperator.listTokens': () => undefined,
  'fleetOperator.revokeToken': toModelNames<RequestOf<'fleetOperator.revokeToken'>>,
  'fleetOperator.addEdge': ({ edge_id, group = DEFAULT_GROUP, labels = [] }: RequestOf<'fleetOperator.addEdge'>) => ({
    edge: edge_id,
    group,
    labels: Object.fromEntries(labels.map(splitLabel)),
  }),
  'fleetOperator.revokeEdge': toModelNames<RequestOf<'fleetOperator.revokeEdge'>>,
  'fleetOperator.acceptEdge': ({ edge_id, serial }: RequestOf<'fleetOperator.acceptEdge'>) => ({
    edgeId: edge_id,
    serial: serial.replaceAll(':', '').toLowerCase(),
  }),
  'fleetOperator.getAuthority': () => undefined,
  'fleetOperator.rotateAuthority': toModelNames<RequestOf<'fleetOperator.rotateAuthority'>>,
};

interface CreatedToken {
  readonly id: number;
  readonly token: string;
  readonly expiresAt: number;
}

interface ShownFleet {
  readonly fleet: string;
  readonly authorities: readonly {
    readonly key: string;
    readonly pin: string;
    readonly certificate: string;
    readonly expiresAt: number;
  }[];
}

export const WRITE_FLEET = {
  'fleetOperator.createToken': ({ id, token, expiresAt }: CreatedToken) => ({
    token_id: String(id),
    edge_token: token,
    expires_at: writeSeconds(expiresAt),
  }),
  'fleetOperator.listTokens': (tokens: readonly EdgeToken[]) => ({ list: tokens.map(writeEdgeToken) }),
  'fleetOperator.getAuthority': ({ fleet, authorities }: ShownFleet): DataOf<'fleetOperator.getAuthority'> => ({
    fleet,
    authorities: authorities.map(({ key, pin, certificate, expiresAt }) => ({
      key_id: key,
      pin,
      certificate,
      expires_at: writeSeconds(expiresAt),
    })),
  }),
  'fleetOperator.rotateAuthority': (key: string) => ({ key_id: key }),
};

function writeEdgeToken(token: EdgeToken): DataOf<'fleetOperator.listTokens'>['list'][0] {
  return {
    token_id: String(token.id),
    group: token.group,
    edge_id: token.edge ?? '',
    labels: { ...token.labels },
    addresses: [...(token.addresses ?? [])],
    replace: writeFlag(token.replaces),
    uses: token.uses,
    used: token.used,
    created_at: writeSeconds(token.createdAt),
    expires_at: writeSeconds(token.expiresAt),
    revoked_at: writeSeconds(token.revokedAt),
  };
}

/** The contract has checked the form. */
function splitLabel(label: string): readonly [name: string, value: string] {
  const at = label.indexOf('=');
  return [label.slice(0, at), label.slice(at + 1)];
}
