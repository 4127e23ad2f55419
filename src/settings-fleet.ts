/** The settings of edges on other machines: the listener at control, and the way from an edge to its controls. */
import { listenAddress, listOf, oneOf, orOff, path, textThat, wholeNumber } from '#lib/setting-reader.ts';
import type { ConfigTable } from '#lib/settings.ts';
import { TIER_ADDRESS } from '#model/edge-tier.ts';

const CONTROLS = listOf(
  textThat('https://host:port', /^https:\/\/([\w.-]{1,253}|\[[\da-fA-F:.]{2,45}\]):\d{1,5}$/),
  0,
  16,
);

export const FLEET_SETTINGS = {
  fleetListen: {
    reader: orOff(listenAddress()),
    default: 'off',
    description:
      'Listener of control for edges on other machines, TLS 1.3 with client certificates; usually `[::]:8710`',
  },
  fleetAddress: {
    reader: CONTROLS,
    default: '',
    description:
      'Addresses of the fleet listeners of all controls, such as https://c1.example.com:8710, that control tells its edges; the same on each control',
  },
  fleetProxyProtocol: {
    reader: oneOf(['off', 'required']),
    default: 'off',
    description:
      'PROXY protocol at the start of connections of `trusted-proxies` to fleet-listen; a balancer there must pass TCP through',
  },
  fleetRenewGraceDays: {
    reader: wholeNumber(0, 365),
    default: '30',
    unit: 'days',
    description: 'How long after its end an edge may still renew its certificate',
  },
  fleetSnapshotRate: {
    reader: wholeNumber(1, 100_000),
    default: '200',
    unit: 'Mbit/s',
    description: 'Limit of all snapshots together that control sends to edges on other machines',
  },
  fleetCa: {
    reader: path(),
    description:
      'Own public-key infrastructure for the fleet: CA certificates that the other side is verified with (PEM file), together with fleet-cert and fleet-key, on control and on edges',
  },
  fleetCert: { reader: path(), description: 'Certificate chain of this machine in the fleet (PEM file)' },
  fleetKey: { reader: path(), description: 'Private key of this machine in the fleet (PEM file)' },
  control: {
    reader: CONTROLS,
    default: '',
    description:
      'Fleet listeners of controls that this edge follows, such as https://c1.example.com:8710; by default those that it was enrolled with',
  },
  tierListen: {
    reader: orOff(listenAddress()),
    default: 'off',
    description:
      'Listener of an edge for edges that fetch through it, TLS 1.3 with client certificates; usually `[::]:8445`, together with tier-address',
  },
  tierAddress: {
    reader: textThat('host:port or [IPv6]:port', TIER_ADDRESS),
    description: 'Address of tier-listen at which other edges reach it, such as 192.0.2.21:8445',
  },
  enrolToken: {
    reader: textThat('a token of "causeway edge token create"', /^cwf1\.[\w-]{43}\.[\w-]{43}$/),
    secret: true,
    description: 'Token to enrol this machine with at its first start; needs `control`',
  },
} satisfies ConfigTable;
