/** `causeway domain propagation`: at which edges a domain's last change is in force. */
import type { Command } from 'commander';
import type { DataOf } from '#contract/operations.ts';
import type { CliContext } from '../command/context.ts';
import { onDomain } from '../command/on-domain.ts';
import { addCallCommand, type Options } from '../command/options.ts';
import { formatTable } from '../command/output.ts';
import { timeTexts } from '../command/times.ts';

type Propagation = DataOf<'domain.propagation'>;

export function addPropagationCommand(group: Command, context: CliContext): void {
  addCallCommand(
    group,
    context,
    'propagation <domain>',
    "show at which edges the domain's last change is in force",
  ).action((domain: string, options: Options) =>
    onDomain(context, domain, options, async (client, id) => {
      const data = await client.call('domain.propagation', { domain_id: id });
      return { data, lines: describe(data, timeTexts(context, options).ofSeconds) };
    }),
  );
}

function describe(
  { revision, in_force, edges, counts }: Propagation,
  ofSeconds: (seconds: number) => string,
): string[] {
  const shown = edges.length;
  const all = counts.waiting + counts.done + counts.refused + counts.away;
  return [
    `revision ${revision} is ${in_force === '1' ? 'in force' : 'not in force yet'}`,
    ...formatTable([
      ['EDGE', 'STATE', 'REVISION', 'REPORTED', 'ERROR'],
      ...edges.map(({ edge, state, applied_revision, reported_at, error }) => {
        return [edge, state, applied_revision, ofSeconds(Math.floor(reported_at / 1000)), error];
      }),
    ]),
    ...(all > shown ? [`and ${all - shown} more edges`] : []),
  ];
}
