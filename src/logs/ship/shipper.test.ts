/** The way from a worker's spool to the reports to control, with real files; the recorded posts stand for control. */
import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, readdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { steadyClock } from '#lib/clock.ts';
import { createLocalTime } from '#lib/local-time.ts';
import { createLogger } from '#lib/logger.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { HIT } from '../../../test/support/logs/access-record.ts';
import { temporaryFolder } from '../../../test/support/temporary.ts';
import { addCounters, type Counters, noCounters } from '../counters.ts';
import { formatLine } from '../line.ts';
import { formatPartKey, type LogPart, parsePart, parseReport, type StatisticsReport } from '../report.ts';
import { type AccessLog, openSpool } from '../spool.ts';
import { openOutbox } from './outbox.ts';
import { type Shipper, type ShipperOptions, startShipper } from './shipper.ts';

const ZONE = createLocalTime('Asia/Shanghai');
const LOG = createLogger({ level: 'silent', name: 'test' });
const START = Date.parse('2025-01-31T15:30:00.000Z');

const RECORD = { ...HIT, endedAt: START, referer: 'https://example.org/' };

interface Bench {
  readonly directory: string;
  readonly spool: AccessLog;
  readonly parts: LogPart[];
  readonly reports: StatisticsReport[];
  readonly moved: string[];
  readonly outboxFile: string;
  now: number;
  /** What the posts do before they take anything. */
  answer: () => 'taken' | 'refused';
  startShipper(options?: Partial<ShipperOptions>): Shipper;
}

function start(t: TestContext): Bench {
  const folder = temporaryFolder(t);
  const directory = join(folder, 'logs');
  const bench: Bench = {
    directory,
    spool: openSpoolIn(directory, () => bench.now),
    parts: [],
    reports: [],
    moved: [],
    outboxFile: join(folder, 'outbox.db'),
    now: START,
    answer: () => 'taken',
    startShipper: (options) => {
      const shipper = startShipper({
        directory,
        writers: ['worker-1'],
        openOutbox: () =>
          openOutbox({
            file: join(folder, 'outbox.db'),
            edge: 'edge-1',
            onLost: () => undefined,
            onMoved: (to) => bench.moved.push(to),
          }),
        edge: 'edge-1',
        reportMs: () => 60_000,
        postPart: async (body) => note(bench.parts, parsePart(body), bench.answer()),
        postReport: async (body) => note(bench.reports, parseReport(body), bench.answer()),
        clock: () => bench.now,
        steadyClock,
        log: LOG,
        ...options,
      });
      t.after(async () => {
        await shipper[Symbol.asyncDispose]();
      });
      return shipper;
    },
  };
  t.after(() => bench.spool.close());
  return bench;
}

function openSpoolIn(directory: string, clock: () => number): AccessLog {
  return openSpool({
    directory,
    name: 'worker-1',
    format: (id, record) => `${id}\t${formatLine(record, ZONE)}`,
    maxQueueBytes: 1e6,
    keepBytes: 1e9,
    zone: ZONE,
    clock,
    log: LOG,
  });
}

function note<T>(list: T[], one: T | undefined, answer: 'taken' | 'refused'): 'taken' | 'refused' {
  assert.ok(one !== undefined);
  if (answer === 'taken') list.push(one);
  return answer;
}

function sumOf(reports: readonly StatisticsReport[], domainId: number): Counters {
  const sum = noCounters();
  for (const one of reports.flatMap(({ minutes }) => minutes)) if (one.domainId === domainId) addCounters(sum, one);
  return sum;
}

function textOf({ gzip }: LogPart): string {
  return gunzipSync(gzip).toString();
}

describe('the shipper', { timeout: 180_000 }, () => {
  test('the shipper reports sums at intervals, and ships files by domain when they end', async (t) => {
    const bench = start(t);
    bench.startShipper();
    for (const target of ['/a', '/a', '/b?x=1']) bench.spool.write(7, { ...RECORD, target });
    bench.spool.write(12, { ...RECORD, cacheCode: 'TCP_MISS', status: 502, referer: undefined });
    bench.spool.countOrigin(12, 33);
    await bench.spool.flush();
    bench.now += 64_000;
    await eventually('the sums are reported', () => bench.reports.length > 0);
    const hits = { requests: 3, bytesIn: 30, bytesOut: 300, hits: 3, hitBytes: 300, status2xx: 3 };
    assert.deepEqual(sumOf(bench.reports, 7), { ...noCounters(), ...hits });
    const miss = { requests: 1, bytesIn: 10, bytesOut: 100, bytesOrigin: 33, status5xx: 1 };
    assert.deepEqual(sumOf(bench.reports, 12), { ...noCounters(), ...miss });
    const early: number = bench.parts.length;
    assert.equal(early, 0);

    bench.now += 30 * 60_000;
    await bench.spool.flush(); // midnight has passed
    await eventually('the file is shipped', () => readdirSync(bench.directory).length === 0);
    const [first, second] = bench.parts;
    assert.ok(first !== undefined && second !== undefined && bench.parts.length === 2);
    assert.match(formatPartKey(first.key), /^7\/2025-01-31\/23\.edge-1\.worker-1-20250131T\d{9}Z-0000\.log\.gz$/);
    assert.equal(first.lines, 3);
    assert.equal(
      textOf(first),
      ['/a', '/a', '/b?x=1'].map((target) => `${formatLine({ ...RECORD, target }, ZONE)}\n`).join(''),
    );
    assert.deepEqual(first.top, {
      url: [
        { value: '/a', requests: 2, bytes: 200 },
        { value: '/b?x=1', requests: 1, bytes: 100 },
      ],
      referer: [{ value: 'https://example.org/', requests: 3, bytes: 300 }],
      client: [{ value: '203.0.113.9', requests: 3, bytes: 300 }],
      status: [{ value: '200', requests: 3, bytes: 300 }],
    });
    assert.equal(second.key.domainId, 12);
    assert.deepEqual(second.top.referer, []);
  });

  test('the shipper reports frequent values as text, of whole characters', async (t) => {
    const bench = start(t);
    bench.startShipper();
    const wire = (text: string) => Buffer.from(text).toString('latin1');
    const long = `/${'中'.repeat(300)}`;
    bench.spool.write(7, { ...RECORD, target: wire('/é😀\\'), referer: wire('https://例え.example/ä') });
    bench.spool.write(7, { ...RECORD, target: wire(long), referer: undefined });
    bench.now += 31 * 60_000;
    await bench.spool.flush();
    const part = await eventually('the file is shipped', () => bench.parts[0]);
    const values = (kind: 'url' | 'referer') => part.top[kind].map(({ value }) => value).sort();
    assert.deepEqual(values('url'), ['/é😀\\x5C', long.slice(0, 1 + 170)].sort());
    assert.deepEqual(values('referer'), ['https://例え.example/ä']);
  });

  test('the shipper counts what a killed worker had written, once, and drops its half line', async (t) => {
    const bench = start(t);
    bench.spool.write(7, RECORD);
    await bench.spool.flush();
    const log = readdirSync(bench.directory).find((file) => file.endsWith('.log'));
    // A batch that reached the log and not the journal, cut in its third line.
    const line = `7\t${formatLine(RECORD, ZONE)}\n`;
    const short = '=0\t0\t15\t1\t10\t100\n';
    appendFileSync(join(bench.directory, log ?? ''), line + short + line.slice(0, -8));
    const next = openSpoolIn(bench.directory, () => bench.now); // the worker that takes its place
    t.after(() => next.close());
    next.write(7, RECORD);
    await next.flush();
    const shipper = bench.startShipper();
    bench.now += 64_000;
    await eventually('all is reported', () => sumOf(bench.reports, 7).requests === 4);
    await eventually('the file of the killed worker is shipped', () => bench.parts.length > 0);
    assert.deepEqual(
      bench.parts.map(({ lines }) => lines),
      [3],
    );
    const later = formatLine({ ...RECORD, endedAt: START + 15 }, ZONE);
    assert.ok(bench.parts[0] !== undefined && textOf(bench.parts[0]).endsWith(`\n${later}\n`));
    await eventually('the half line is counted', () => shipper.brokenLines === 1);
    assert.equal(sumOf(bench.reports, 7).requests, 4);
  });

  test('the shipper counts once, and ships, a log that lost its journal', async (t) => {
    const bench = start(t);
    bench.startShipper();
    bench.spool.write(7, RECORD);
    await bench.spool.flush();
    bench.now += 64_000;
    await eventually('it is reported', () => sumOf(bench.reports, 7).requests === 1);
    for (const file of readdirSync(bench.directory)) if (file.endsWith('.stats')) rmSync(join(bench.directory, file));
    await eventually('the shipper has looked', () => {
      bench.now += 60_000;
      bench.spool.countOrigin(7, 1);
      return sumOf(bench.reports, 7).bytesOrigin > 0;
    });
    bench.spool.write(7, { ...RECORD, endedAt: bench.now });
    await bench.spool.close();
    await eventually('both files are shipped', () => bench.parts.length === 2);
    bench.now += 64_000;
    await eventually('the second is reported', () => sumOf(bench.reports, 7).requests === 2);
    await eventually('nothing is left', () => readdirSync(bench.directory).length === 0);
    assert.equal(sumOf(bench.reports, 7).requests, 2);
  });

  test('the shipper waits for a control that is away, also through its own end, and reports everything once', async (t) => {
    const bench = start(t);
    bench.answer = () => {
      throw new Error('away');
    };
    const before = bench.startShipper();
    bench.spool.write(7, RECORD);
    await bench.spool.flush();
    bench.now += 3_600_000;
    bench.spool.write(7, { ...RECORD, endedAt: bench.now });
    await bench.spool.flush();
    await eventually('the file has ended', () => readdirSync(bench.directory).some((file) => file.endsWith('.done')));
    await before[Symbol.asyncDispose]();
    bench.answer = () => 'taken';
    bench.startShipper();
    bench.now += 124_000;
    await eventually('both minutes are there', () => sumOf(bench.reports, 7).requests === 2);
    await eventually('the ended file is there', () => bench.parts.length === 1);
    const names = bench.reports.map(({ start: id, sequence }) => `${id} ${sequence}`);
    assert.equal(new Set(names).size, names.length);
    assert.deepEqual(
      bench.reports.map(({ sequence }) => sequence),
      bench.reports.map((_, n) => n + 1),
    );
  });

  test('the shipper waits no longer if a clock is set back by a day', async (t) => {
    const bench = start(t);
    bench.answer = () => {
      bench.now -= 24 * 3_600_000;
      bench.answer = () => 'taken';
      throw new Error('away');
    };
    bench.startShipper();
    bench.spool.write(7, RECORD);
    await bench.spool.close();
    await eventually('the file is shipped', () => bench.parts.length === 1);
  });

  test('the shipper does not retry for ever what control refuses', async (t) => {
    const bench = start(t);
    bench.answer = () => 'refused';
    bench.startShipper();
    bench.spool.write(7, RECORD);
    await bench.spool.flush();
    await bench.spool.close();
    await eventually('the file is given up', () => readdirSync(bench.directory).length === 0);
  });

  test('the shipper ships the files of a worker that no longer exists', async (t) => {
    const bench = start(t);
    bench.spool.write(7, RECORD);
    await bench.spool.flush(); // and is killed
    bench.startShipper({ writers: ['worker-2'] });
    await eventually('its file is shipped', () => bench.parts.length === 1);
    await eventually('nothing is left', () => readdirSync(bench.directory).length === 0);
  });

  test('the shipper ships the files of a worker when that has been replaced', async (t) => {
    const bench = start(t);
    const shipper = bench.startShipper();
    bench.spool.write(7, RECORD);
    await bench.spool.flush(); // and is killed
    await eventually('its file is read', () => shipper.outbox !== undefined);
    assert.equal(bench.parts.length, 0);
    shipper.useWriters(['worker-2']);
    await eventually('its file is shipped', () => bench.parts.length === 1);
  });

  test('the shipper begins anew if its file is not a database, and waits if it cannot be opened', async (t) => {
    const bench = start(t);
    writeFileSync(bench.outboxFile, 'not a database at all '.repeat(100));
    bench.startShipper();
    bench.spool.write(7, RECORD);
    await bench.spool.flush();
    await eventually('it is moved aside', () => bench.moved.length === 1);
    bench.now += 64_000;
    await eventually('the sums are reported', () => sumOf(bench.reports, 7).requests === 1);

    const other = start(t);
    mkdirSync(other.outboxFile); // a folder cannot be opened
    other.startShipper();
    other.spool.write(7, RECORD);
    await other.spool.flush();
    rmdirSync(other.outboxFile);
    await eventually('it goes on', () => {
      other.now += 64_000;
      return sumOf(other.reports, 7).requests === 1;
    });
  });
});
