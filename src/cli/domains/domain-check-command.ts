/** `causeway domain check`: whether a domain's name points here, its certificate, its origin, its first request. */
import type { Command } from 'commander';
import type { DataOf } from '#contract/operations.ts';
import type { CliContext } from '../command/context.ts';
import { onDomain } from '../command/on-domain.ts';
import { addCallCommand, type Options } from '../command/options.ts';
import { formatPairs } from '../command/output.ts';
import { timeTexts } from '../command/times.ts';

type Check = DataOf<'domain.check'>;

const DNS_STATES: Readonly<Record<Check['dns']['state'], string>> = {
  here: 'points here',
  elsewhere: 'does not point here',
  missing: 'has no address',
  mixed: 'differs between name servers: a change may still be spreading',
  unknown: 'unknown: no name server answered',
};

const CERTIFICATE_STATES: Readonly<Record<Check['certificate']['state'], string>> = {
  off: 'none: HTTPS is off',
  valid: 'valid',
  notYetValid: 'not yet valid',
  expired: 'expired',
  otherName: 'for another name',
  missing: 'not in the account',
};

export function addCheckCommand(group: Command, context: CliContext): void {
  addCallCommand(
    group,
    context,
    'check <domain>',
    'check whether the name points here, the certificate and the origin',
  ).action((domain: string, options: Options) =>
    onDomain(context, domain, options, async (client, id) => {
      const check = await client.call('domain.check', { domain_id: id });
      return { data: check, lines: describe(check, timeTexts(context, options).ofSeconds) };
    }),
  );
}

function describe({ dns, certificate, origin, seen_at }: Check, ofSeconds: (seconds: number) => string): string[] {
  const ends = certificate.expires_at === 0 ? '' : `, until ${ofSeconds(certificate.expires_at)}`;
  return formatPairs([
    ['name', DNS_STATES[dns.state]],
    ['found', dns.found.join(', ') || '-'],
    ['name servers', dns.resolvers.map(({ resolver, state }) => `${resolver} (${state})`).join(', ') || '-'],
    ['certificate', CERTIFICATE_STATES[certificate.state] + ends],
    ['origin', describeOrigin(origin)],
    ['first request', seen_at === 0 ? 'none yet' : `in the hour from ${ofSeconds(seen_at)}`],
  ]);
}

function describeOrigin({ origin, address, connect_ms, tls, status, cacheable, why }: Check['origin']): string {
  const parts = [
    origin || 'none',
    ...(address === '' ? [] : [`${address} in ${connect_ms} ms${tls === '' ? '' : ` by ${tls}`}`]),
    ...(status === 0 ? [] : [`status ${status}`, cacheable === '1' ? 'cacheable' : 'not cacheable']),
    ...(why === '' ? [] : [why]),
  ];
  return parts.join(', ');
}
