/** `causeway edge`: the edges of the service, and their drains. `causeway fleet`: all of them and the controls. */
import { setTimeout as delay } from 'node:timers/promises';
import { Command, InvalidArgumentError, Option } from 'commander';
import { ClientError } from '#client/client-error.ts';
import type { Client } from '#client/transport.ts';
import type { DataOf } from '#contract/operations.ts';
import { EDGE_STATES } from '#model/edge-state.ts';
import { readAllPages } from '../command/all-pages.ts';
import { type CliContext, CliError } from '../command/context.ts';
import { addCallCommand, givenSettings, type Options, textOption } from '../command/options.ts';
import { formatPairs, formatTable } from '../command/output.ts';
import { run } from '../command/run-operation.ts';
import { type TimeTexts, timeTexts } from '../command/times.ts';
import { addExposure } from './edge-exposure-command.ts';
import { addAuthorityCommands, addIdentityCommands } from './edge-identity-commands.ts';

type EdgeRow = DataOf<'edgeOperator.list'>['list'][0];
type EventRow = DataOf<'edgeOperator.events'>['list'][0];

/** Interval at which `--wait` asks. */
const POLL_MS = 1000;
const MAX_WAIT_MINUTES = 30;

export function edgeCommand(context: CliContext): Command {
  const command = new Command('edge').description('edges of the service');
  addReading(command, context);
  addDrain(command, context);
  addUndrain(command, context);
  addRemove(command, context);
  addIdentityCommands(command, context);
  addExposure(command, context);
  return command;
}

export function fleetCommand(context: CliContext): Command {
  const command = new Command('fleet').description('all edges of the service together');
  addCallCommand(command, context, 'status', 'show how many edges are in each state').action((options: Options) =>
    run(context, options, async (client, print) => {
      const status = await client.call('edgeOperator.status', {});
      const { list: events } = await client.call('edgeOperator.events', { page_size: 10 });
      print({ ...status, events }, describeFleet(status, events, timeTexts(context, options)));
    }),
  );
  addCallCommand(command, context, 'events [edge]', 'list events of edges, newest first').action(
    (edge: string | undefined, options: Options) =>
      run(context, options, async (client, print) => {
        const events = await readAllPages((page) => client.call('edgeOperator.events', { edge_id: edge, ...page }));
        print(events, eventTable(events, timeTexts(context, options)));
      }),
  );
  addAuthorityCommands(command, context);
  return command;
}

function addReading(command: Command, context: CliContext): void {
  addCallCommand(command, context, 'list', 'list edges with their states')
    .option('--group <group>', 'show only edges of this group')
    .addOption(
      new Option('--status <status>', 'show only edges with this status (default: all but removed)').choices(
        EDGE_STATES,
      ),
    )
    .action((options: Options) =>
      run(context, options, async (client, print) => {
        const filter = { group: textOption(options, 'group'), status: statusOption(options) };
        const all = await readAllPages((page) => client.call('edgeOperator.list', { ...filter, ...page }));
        const edges = all.filter(({ status }) => status !== 'removed' || filter.status === 'removed');
        const times = timeTexts(context, options);
        print(edges, formatTable([HEADING, ...edges.map((edge) => cellsOf(edge, times))]));
      }),
    );
  addCallCommand(command, context, 'show <edge>', 'show an edge with its own checks and its last events').action(
    (edge: string, options: Options) =>
      run(context, options, async (client, print) => {
        const found = await client.call('edgeOperator.get', { edge_id: edge });
        const { list: events } = await client.call('edgeOperator.events', { edge_id: edge, page_size: 10 });
        print({ ...found, events }, describeEdge(found, events, timeTexts(context, options)));
      }),
  );
}

function addDrain(command: Command, context: CliContext): void {
  addCallCommand(command, context, 'drain [edge]', 'take an edge out of service: no new viewers, the others stay')
    .option('--wait', 'wait until it is drained')
    .option('--max <time>', 'with --wait: give up after this time, such as 30m or 2h', parseMinutes, MAX_WAIT_MINUTES)
    .option('--self', 'drain the edge of this data directory, also while control is away')
    .action(async (edge: string | undefined, options: Options) => {
      if (options['self'] === true) return drainSelf(context, options, edge, true);
      await run(context, options, async (client, print) => {
        const edge_id = expectEdge(edge);
        const answer = await client.call('edgeOperator.setState', { edge_id, action: 'drain' });
        if (options['wait'] !== true) return print(answer, [`edge ${edge_id} is ${answer.status}`]);
        const minutes = Number(options['max']);
        print(await waitUntilDrained(client, edge_id, minutes), [`edge ${edge_id} is drained`]);
      });
    });
}

function addUndrain(command: Command, context: CliContext): void {
  addCallCommand(command, context, 'undrain [edge]', 'put a drained edge back into service')
    .option('--self', 'undrain the edge of this data directory')
    .action(async (edge: string | undefined, options: Options) => {
      if (options['self'] === true) return drainSelf(context, options, edge, false);
      await run(context, options, async (client, print) => {
        const edge_id = expectEdge(edge);
        const answer = await client.call('edgeOperator.setState', { edge_id, action: 'undrain' });
        print(answer, [`edge ${edge_id} is ${answer.status}`]);
      });
    });
}

function addRemove(command: Command, context: CliContext): void {
  addCallCommand(command, context, 'remove <edge>', 'remove an edge for good: its certificates no longer work')
    .option('--force', 'remove it even while it is ready')
    .action((edge: string, options: Options) =>
      run(context, options, async (client, print) => {
        const force = options['force'] === true ? '1' : '0';
        const answer = await client.call('edgeOperator.setState', { edge_id: edge, action: 'remove', force });
        print(answer, [`edge ${edge} is ${answer.status}`]);
      }),
    );
}

function drainSelf(context: CliContext, options: Options, edge: string | undefined, isDraining: boolean): void {
  if (edge !== undefined) throw new CliError('--self means the edge of this data directory; do not name another');
  context.setSelfDrain(givenSettings(context, options), isDraining);
  const text = isDraining ? 'this edge drains itself' : 'this edge no longer drains itself';
  context.print(options['json'] === true ? JSON.stringify({ drains_itself: isDraining ? '1' : '0' }) : text);
}

function expectEdge(edge: string | undefined): string {
  if (edge === undefined) throw new CliError('name an edge (see causeway edge list), or give --self');
  return edge;
}

async function waitUntilDrained(client: Client, edge_id: string, minutes: number) {
  const deadline = performance.now() + minutes * 60_000;
  for (;;) {
    const isLate = performance.now() > deadline;
    const edge = await readWhileAway(client, edge_id, isLate);
    if (edge?.status === 'drained') return { status: edge.status };
    if (edge !== undefined && edge.status !== 'draining')
      throw new CliError(`edge ${edge_id} is ${edge.status}: its drain was canceled`);
    if (isLate) {
      const rest = edge?.load == null ? '' : ` and answers ${edge.load.requests.toFixed(1)} requests a second`;
      throw new CliError(`edge ${edge_id} is still draining after ${minutes} minutes${rest}; its drain goes on`);
    }
    await delay(POLL_MS);
  }
}

/** Returns `undefined` while control is away, as in a restart, unless it is late. */
async function readWhileAway(client: Client, edge_id: string, isLate: boolean) {
  try {
    return await client.call('edgeOperator.get', { edge_id });
  } catch (error) {
    const isAway = error instanceof ClientError && (error.kind === 'unreachable' || error.kind === 'timeout');
    if (isAway && !isLate) return undefined;
    throw error;
  }
}

function parseMinutes(text: string): number {
  const [, digits, unit = 'm'] = /^(\d{1,4})([mh]?)$/.exec(text) ?? [];
  const minutes = Number(digits) * (unit === 'h' ? 60 : 1);
  if (!(minutes >= 1 && minutes <= 1440)) throw new InvalidArgumentError('expected 1m to 24h, such as 30m.');
  return minutes;
}

const HEADING = ['EDGE', 'GROUP', 'STATUS', 'SEEN', 'REVISION', 'LAG', 'REQ/S', 'BUILD'];

function cellsOf(edge: EdgeRow, times: TimeTexts): string[] {
  const status = edge.reason === '' ? edge.status : `${edge.status} (${edge.reason})`;
  const requests = edge.load === null ? '-' : edge.load.requests.toFixed(1);
  const { edge_id, group, seen_at, revision, lag, build } = edge;
  return [edge_id, group, status, times.ofSeconds(seen_at), String(revision), String(lag), requests, build || '-'];
}

function describeEdge(edge: DataOf<'edgeOperator.get'>, events: readonly EventRow[], times: TimeTexts): string[] {
  const { load } = edge;
  const labels = Object.entries(edge.labels).map(([name, value]) => `${name}=${value}`);
  const pairs = formatPairs([
    ['edge', edge.edge_id],
    ['group', edge.group],
    ['labels', labels.join(', ')],
    ['status', edge.reason === '' ? edge.status : `${edge.status} (${edge.reason})`],
    ['since', times.ofSeconds(edge.status_at)],
    ['seen', times.ofSeconds(edge.seen_at)],
    [
      'drain',
      edge.drain_at === 0 ? '' : `${times.ofSeconds(edge.drain_at)}${edge.drains_itself === '1' ? ', by itself' : ''}`,
    ],
    ['revision', `${edge.revision} (${edge.lag} behind)`],
    ['rejected', edge.rejected === 0 ? '' : String(edge.rejected)],
    ['build', edge.build],
    ['features', edge.features.join(', ')],
    ['clock', edge.clock_offset_ms === null ? '' : describeClock(edge.clock_offset_ms)],
    [
      'load',
      load === null
        ? ''
        : `${percent(load.cpu)} of the processors, ${load.mbit.toFixed(1)} Mbit/s, ${load.requests.toFixed(1)} requests/s`,
    ],
    ['cache disk', load === null ? '' : `${percent(load.cache_disk)} full`],
    ...edge.health.map(({ check, ok, detail }) => [`check ${check}`, ok === '1' ? 'ok' : `failed: ${detail}`] as const),
  ]);
  const rejections = edge.rejections.map(({ kind, key, error }) => `cannot apply ${kind} ${key}: ${error}`);
  return [...pairs, ...rejections, ...(events.length === 0 ? [] : ['', ...eventTable(events, times)])];
}

function describeFleet(status: DataOf<'edgeOperator.status'>, events: readonly EventRow[], times: TimeTexts): string[] {
  const rows = status.edges.map(({ group, status: state, count }) => [group, state, String(count)]);
  const pairs = formatPairs([
    ['revision', String(status.head_revision)],
    ['lag', `${status.lag_revisions} revisions, ${status.lag_seconds} s`],
    ['commits', COMMITS[status.synchronous ?? 'null']],
  ]);
  const controls = status.controls.map(({ control_id, build, seen_at, leases }) => [
    control_id.slice(0, SHOWN_ID),
    build,
    times.ofSeconds(seen_at),
    leases.join(', ') || '-',
  ]);
  const shared =
    controls.length === 0 ? [] : ['', ...formatTable([['CONTROL', 'BUILD', 'SEEN', 'LEASES'], ...controls])];
  const recent = events.length === 0 ? [] : ['', ...eventTable(events, times)];
  return [...pairs, ...shared, '', ...formatTable([['GROUP', 'STATUS', 'EDGES'], ...rows]), ...recent];
}

/** Texts for `synchronous`; none on SQLite. */
const COMMITS = { 1: 'confirmed by a standby', 0: 'not confirmed by a standby', null: '' } as const;
/** Characters of a control's id that tell a few of them apart. */
const SHOWN_ID = 8;

function eventTable(events: readonly EventRow[], times: TimeTexts): string[] {
  const rows = events.map(({ time, edge_id, event, detail, actor }) => [
    times.ofSeconds(time),
    edge_id,
    event,
    actor,
    detail,
  ]);
  return formatTable([['TIME', 'EDGE', 'EVENT', 'BY', 'DETAIL'], ...rows]);
}

function describeClock(offsetMs: number): string {
  return `${Math.abs(offsetMs)} ms ${offsetMs < 0 ? 'behind' : 'ahead of'} control`;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

function statusOption(options: Options) {
  const given = textOption(options, 'status');
  return EDGE_STATES.find((state) => state === given);
}
