/** A look at a PostgreSQL server over a short connection: whether it is the primary, and what it makes of queries. */
import pg from 'pg';

/**
 * What a look finds about a query: `lost`, the server does not work on it, or does not know its connection;
 * `unanswered`, the server does not answer the look; `unconfirmed`, a commit waits for a standby, or the query for the
 * locks of such a commit; `fine`, the server is at work.
 */
export type Finding = 'fine' | 'lost' | 'unanswered' | 'unconfirmed';

export interface ServerView {
  readonly isPrimary: boolean;
  /** Timeline of the primary's WAL, in hexadecimal: each promotion begins a higher one. Empty for a standby. */
  readonly timeline: string;
  /** Findings by process id, of the connections that the server knows. */
  readonly findings: ReadonlyMap<number, Finding>;
  /** Finding about connections that the server does not know. */
  readonly others: Finding;
  /** Process ids whose commit waits for a standby. */
  readonly commits: ReadonlySet<number>;
}

/** Returns the result of `work`; `undefined` if the server does not answer within `limitMs` for each step, or refuses. */
export async function withServer<T>(
  url: string,
  limitMs: number,
  work: (client: pg.Client) => Promise<T>,
): Promise<T | undefined> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: limitMs,
    query_timeout: limitMs,
    application_name: 'causeway look',
  });
  client.on('error', () => undefined); // the look fails
  try {
    await client.connect();
    return await work(client);
  } catch {
    return undefined;
  } finally {
    // Not awaited: a server that stands still closes nothing. It may be gone already.
    void client.end().catch(() => undefined);
  }
}

interface Row {
  readonly primary: boolean;
  readonly wal: string | null;
  readonly own: number;
  readonly pid: number | null;
  /** Whether it is one of a control's. A pooler's process ids may be those of any connection. */
  readonly ours: boolean | null;
  readonly state: string | null;
  readonly wait_event: string | null;
  readonly wait_event_type: string | null;
  readonly unconfirmed: boolean;
}

/**
 * Asks the server about connections. A pooler reports other process ids than the server's, also of the connection that
 * asks: then nothing is known about connections that the server does not list.
 */
export async function viewServer(client: pg.Client, pids: readonly number[]): Promise<ServerView> {
  const { rows } = await client.query<Row>(VIEW, [pids]);
  const [first] = rows;
  // `as`: the type lacks the server's process id.
  const { processID } = client as unknown as { readonly processID?: number | null };
  const known = rows.flatMap((row) => (row.pid === null ? [] : [{ ...row, pid: row.pid }]));
  return {
    isPrimary: first?.primary === true,
    timeline: first?.wal?.slice(0, TIMELINE_DIGITS) ?? '',
    findings: new Map(known.map((row) => [row.pid, findingOf(row)])),
    others: first?.own === processID ? 'lost' : 'fine',
    commits: new Set(known.filter(waitsForStandby).map(({ pid }) => pid)),
  };
}

/** Ends server processes: their locks would be held until the server notices that the connection is gone. */
export async function endProcesses(client: pg.Client, pids: readonly number[]): Promise<void> {
  if (pids.length > 0) await client.query('select pg_terminate_backend(pid) from unnest($1::int[]) as pid', [pids]);
}

function findingOf(row: Row): Finding {
  if (row.ours !== true) return 'fine';
  if (row.state?.startsWith('idle') === true) return 'lost';
  const isHeldUp = row.unconfirmed && row.wait_event_type === 'Lock';
  return waitsForStandby(row) || isHeldUp ? 'unconfirmed' : 'fine';
}

function waitsForStandby({ ours, wait_event }: Pick<Row, 'ours' | 'wait_event'>): boolean {
  return ours === true && wait_event === 'SyncRep';
}

/** Leading digits of the name of a WAL file. */
const TIMELINE_DIGITS = 8;

/** `unconfirmed`: a commit of any control has waited for a standby for 2 s, perhaps with locks. */
const VIEW = `
  select not pg_is_in_recovery() as primary,
    case when not pg_is_in_recovery() then pg_walfile_name(pg_current_wal_lsn()) end as wal,
    pg_backend_pid() as own, a.pid, a.state, a.wait_event, a.wait_event_type,
    a.usename = current_user and a.application_name = 'causeway' as ours,
    exists (
      select from pg_stat_activity as c where c.usename = current_user and c.application_name = 'causeway'
        and c.wait_event = 'SyncRep' and c.state_change < clock_timestamp() - interval '2 s'
    ) as unconfirmed
  from (select) as one left join pg_stat_activity as a on a.pid = any($1::int[])`;
