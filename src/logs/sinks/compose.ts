/** The post of records to a sink, as edges send it, and the one by which control tries a sink. docs/decisions/0743 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { LocalTime } from '#lib/local-time.ts';
import type { LineSink } from '#model/line-sink.ts';
import type { AccessRecord } from '../line.ts';
import { formatSpooledLine } from '../spooled-line.ts';
import type { SinkPost } from './post.ts';
import { recordMaker } from './record.ts';

const compress = promisify(gzip);

export interface SinkContent {
  readonly edge: string;
  /** The same key never stands for other records. */
  readonly key: string;
  /** One line of JSON each. */
  readonly records: readonly string[];
}

export async function composeSinkPost(
  { url, headers }: Pick<LineSink, 'url' | 'headers'>,
  { edge, key, records }: SinkContent,
): Promise<SinkPost> {
  return {
    url,
    headers: {
      ...Object.fromEntries(headers.map(({ name, value }) => [name, value])),
      'content-type': 'application/x-ndjson',
      'content-encoding': 'gzip',
      'user-agent': 'causeway',
      'idempotency-key': key,
      'x-causeway-edge': edge,
      'x-causeway-records': String(records.length),
    },
    body: await compress(records.map((json) => `${json}\n`).join('')),
  };
}

export const TEST_KEY = 'test';

/** Returns a record with the fields of the sink, whatever its domains are. */
export function testRecordOf(
  { fields }: Pick<LineSink, 'fields'>,
  { edge, at, zone }: { readonly edge: string; readonly at: number; readonly zone: LocalTime },
): string {
  const record: AccessRecord = {
    ...{ clientAddress: '192.0.2.1', endedAt: at, durationMs: 0, requestBytes: 0, responseBytes: 0 },
    ...{ host: 'test.invalid', method: 'GET', target: '/causeway-test', httpVersion: '1.1', status: 200 },
    ...{ contentType: undefined, referer: undefined, userAgent: undefined },
    cacheCode: 'NONE',
  };
  const make = recordMaker({ fields, domainIds: [], samplePercent: 100 }, edge);
  return make(formatSpooledLine(0, record, zone), 0) ?? '';
}
