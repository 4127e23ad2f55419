/** `causeway dns`: what the name server of this machine knows, and why it answers as it does. */
import { Command } from 'commander';
import { askLocal } from '../command/ask-local.ts';
import { type CliContext, CliError } from '../command/context.ts';
import { addSettings, givenSettings, type Options, textOption } from '../command/options.ts';
import { formatTable } from '../command/output.ts';

interface Status {
  readonly engine: string;
  /** Why the engine has not taken the last change; absent: it has. */
  readonly problem?: string;
  readonly tableAgeSeconds: number;
  readonly zones: { readonly suffix: string; readonly routing: string; readonly nameServers: readonly string[] };
  readonly revision: number;
  readonly names: number;
  readonly sets: readonly { readonly label: string; readonly groups: readonly string[]; readonly edges: number }[];
  readonly edges: readonly EdgeOfDns[];
  readonly panics: readonly string[];
}

interface EdgeOfDns {
  readonly edge: string;
  readonly group: string;
  readonly weight: number;
  /** `verdict`: absent if it has not been probed yet. */
  readonly addresses: readonly { readonly address: string; readonly verdict?: string; readonly detail?: string }[];
}

type Explanation =
  | { readonly found: 'none' | 'empty' | 'domain' }
  | {
      readonly found: 'target';
      readonly target: string;
      readonly groups: readonly string[];
      readonly location: {
        readonly source: 'networks' | 'geoip' | 'default';
        readonly group?: string;
        readonly coordinates?: { readonly latitude: number; readonly longitude: number };
        readonly prefix: number;
      };
      readonly families: readonly {
        readonly family: number;
        readonly addresses: readonly string[];
        readonly isPanic: boolean;
        readonly considered: readonly { readonly edge: string; readonly address: string; readonly verdict: string }[];
      }[];
    };

export function dnsCommand(context: CliContext): Command {
  const dns = new Command('dns').description('the name server of this machine');
  addSettings(dns.command('status'), context, ['data-dir'])
    .option('--json', 'print the answer as JSON')
    .description('show its zones, the edges that it hands out, and their health')
    .action(async (options: Options) => {
      const status = (await ask(context, options, {})) as Status; // a name server of this version
      if (options['json'] === true) context.print(JSON.stringify(status, undefined, 2));
      else for (const line of describeStatus(status)) context.print(line);
    });
  addSettings(dns.command('explain'), context, ['data-dir'])
    .argument('<name>', 'name below cname-suffix, or in the routing zone')
    .option('--client <address>', 'IP address of the client, or of its resolver', '127.0.0.1')
    .option('--json', 'print the answer as JSON')
    .description('show which addresses a client gets for a name, and why')
    .action(async (name: string, options: Options) => {
      const client = textOption(options, 'client') ?? '';
      const explained = (await ask(context, options, { name, client })) as Explanation; // as above
      if (options['json'] === true) context.print(JSON.stringify(explained, undefined, 2));
      else for (const line of describeExplanation(explained)) context.print(line);
    });
  return dns;
}

async function ask(context: CliContext, options: Options, question: unknown): Promise<unknown> {
  const { dataDir } = context.loadSettings(givenSettings(context, options));
  const answer = await askLocal(context.dnsSocket(dataDir), question);
  if (answer !== undefined) return answer;
  throw new CliError(
    `no name server is running from ${dataDir}; start it with "causeway serve", or specify another with --data-dir`,
  );
}

function describeStatus({
  engine,
  problem,
  tableAgeSeconds,
  zones,
  revision,
  names,
  sets,
  edges,
  panics,
}: Status): string[] {
  const facts = [
    ['engine', problem === undefined ? engine : `${engine}: ${problem}`],
    ['zone of the CNAMEs', `${zones.suffix} (${names} names)`],
    ['zone of the addresses', zones.routing],
    ['name servers', zones.nameServers.join(', ')],
    ['settings', `revision ${revision}, ${tableAgeSeconds === 0 ? 'current' : `${tableAgeSeconds} s old`}`],
    ['probes ignored for', panics.join(', ') || '-'],
  ];
  const setRows = sets.map(({ label, groups, edges: count }) => [label, groups.join(', ') || '-', String(count)]);
  const edgeRows = edges.flatMap(({ edge, group, weight, addresses }) =>
    addresses.map(({ address, verdict = 'not probed yet', detail = '' }) => [
      edge,
      group || '-',
      String(weight),
      address,
      detail === '' ? verdict : `${verdict}: ${detail}`,
    ]),
  );
  return [
    ...formatTable(facts),
    '',
    ...formatTable([['SET', 'GROUPS', 'EDGES'], ...setRows]),
    '',
    ...formatTable([['EDGE', 'GROUP', 'WEIGHT', 'ADDRESS', 'HEALTH'], ...edgeRows]),
  ];
}

function describeExplanation(explained: Explanation): string[] {
  if (explained.found !== 'target')
    return [explained.found === 'empty' ? 'the name has no records: only names below it' : 'there is no such name'];
  const { target, groups, location, families } = explained;
  const { source, group, coordinates, prefix } = location;
  const where =
    group ?? (coordinates && `${coordinates.latitude}, ${coordinates.longitude}`) ?? 'nothing is known of it';
  return formatTable([
    ['points to', `${target} (groups: ${groups.join(', ') || '-'})`],
    ['the client', `${where} (${source}${prefix > 0 ? `, /${prefix}` : ''})`],
    ...families.flatMap(({ family, addresses, isPanic, considered }) => [
      [`IPv${family}`, `${addresses.join(', ') || 'no address'}${isPanic ? ' (probes are ignored)' : ''}`],
      ...considered.map(({ edge, address, verdict }) => ['', `${edge} ${address}: ${verdict}`]),
    ]),
  ]);
}
