/** A line of the log as an object: what those who follow or search a log are shown. Pure. */
import { LINE_FIELDS } from '../line.ts';

const NAMES = {
  clientAddress: 'client',
  endedAt: 'time',
  durationMs: 'duration_ms',
  requestBytes: 'request_bytes',
  responseBytes: 'response_bytes',
  host: 'host',
  method: 'method',
  target: 'target',
  httpVersion: 'protocol',
  contentType: 'content_type',
  referer: 'referer',
  userAgent: 'user_agent',
} as const satisfies Readonly<Record<Exclude<(typeof LINE_FIELDS)[number], 'outcome'>, string>>;

const COUNTS: readonly string[] = ['duration_ms', 'request_bytes', 'response_bytes'];

/** The members of `NAMES`, `cache` and `status`, and the edge that wrote the line. */
export function readLine(edge: string, line: string): ReadLine {
  const fields = line.split('\t');
  const members = LINE_FIELDS.flatMap((field, index): [string, string | number][] => {
    const value = fields[index] ?? '';
    if (field !== 'outcome') return [[NAMES[field], COUNTS.includes(NAMES[field]) ? Number(value) : value]];
    const [cache = '', status = ''] = value.split('/');
    return [
      ['cache', cache],
      ['status', Number(status)],
    ];
  });
  return { edge, ...Object.fromEntries(members) } as ReadLine; // a member for each field
}

type Name = (typeof NAMES)[keyof typeof NAMES];
type Count = 'duration_ms' | 'request_bytes' | 'response_bytes';

export type ReadLine = Record<Exclude<Name, Count> | 'edge' | 'cache', string> & Record<Count | 'status', number>;
