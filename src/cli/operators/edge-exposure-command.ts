/** `causeway edge exposure`: which secrets of customers are lost with an edge's machine. */
import type { Command } from 'commander';
import type { DataOf } from '#contract/operations.ts';
import { readAllPages } from '../command/all-pages.ts';
import type { CliContext } from '../command/context.ts';
import { addCallCommand, type Options } from '../command/options.ts';
import { formatTable } from '../command/output.ts';
import { run } from '../command/run-operation.ts';
import { type TimeTexts, timeTexts } from '../command/times.ts';

type Exposure = DataOf<'edgeOperator.exposure'>;

export function addExposure(command: Command, context: CliContext): void {
  addCallCommand(command, context, 'exposure <edge>', 'list whose private keys and live keys an edge has had').action(
    (edge_id: string, options: Options) =>
      run(context, options, async (client, print) => {
        const head = await client.call('edgeOperator.exposure', { edge_id, page_size: 1 });
        const list = await readAllPages((page) => client.call('edgeOperator.exposure', { edge_id, ...page }));
        const exposure = { ...head, list: [...list] };
        print(exposure, describe(edge_id, exposure, timeTexts(context, options)));
      }),
  );
}

function describe(edge: string, { group, revoked_at, list }: Exposure, times: TimeTexts): string[] {
  const certificates = new Set(list.flatMap(({ ssl_keys }) => ssl_keys));
  const liveKeys = list.filter(({ live_keys }) => live_keys === '1').length;
  const until = revoked_at === 0 ? 'it still gets new secrets' : `revoked ${times.ofSeconds(revoked_at)}`;
  const rows = list.map(({ domain_name, account_id, ssl_keys, live_keys }) => [
    domain_name,
    account_id,
    ssl_keys.join(', ') || '-',
    live_keys === '1' ? 'yes' : '-',
  ]);
  return [
    `edge ${edge} of group ${group}: ${until}`,
    `domains: ${list.length}, certificates to replace: ${certificates.size}, domains with live keys to change: ${liveKeys}`,
    ...(rows.length === 0 ? [] : ['', ...formatTable([['DOMAIN', 'ACCOUNT', 'CERTIFICATES', 'LIVE KEYS'], ...rows])]),
  ];
}
