import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { createLocalTime } from '#lib/local-time.ts';
import { createLogger } from '#lib/logger.ts';
import { eventually } from '../../test/support/eventually.ts';
import { HIT } from '../../test/support/logs/access-record.ts';
import { temporaryFolder } from '../../test/support/temporary.ts';
import { noCounters } from './counters.ts';
import { parseRecord } from './journal.ts';
import { type AccessLog, openSpool, type SpoolOptions } from './spool.ts';

const START = Date.parse('2025-01-31T15:30:00.000Z');
const HOUR = 3_600_000;

const RECORD = { ...HIT, endedAt: START };

interface Bench {
  readonly spool: AccessLog;
  /** A request of domain 7 whose line is this text. */
  readonly write: (line: string) => void;
  readonly directory: string;
  readonly reports: string[];
  now: number;
}

function start(t: TestContext, changes: Partial<SpoolOptions> = {}): Bench {
  const reports: string[] = [];
  const directory = changes.directory ?? join(temporaryFolder(t), 'logs');
  const bench = { directory, reports, now: START };
  const spool = openSpool({
    directory,
    name: 'edge-1',
    format: (_domainId, { target = '' }) => target,
    maxQueueBytes: 1024 * 1024,
    keepBytes: 1024 * 1024,
    zone: createLocalTime('Asia/Shanghai'),
    clock: () => bench.now,
    log: createLogger({ level: 'warn', name: 'test', destination: { write: (line) => void reports.push(line) } }),
    ...changes,
  });
  t.after(() => spool.close());
  const write = (target: string) => spool.write(7, { ...RECORD, endedAt: bench.now, target });
  return Object.assign(bench, { spool, write });
}

function files(directory: string): string[] {
  return readdirSync(directory)
    .filter((file) => file.endsWith('.log'))
    .sort();
}

function journals(directory: string): string[] {
  return readdirSync(directory)
    .filter((file) => /\.(stats|done)$/.test(file))
    .sort();
}

/** Returns the name of the newest log file. */
function newest(directory: string): string {
  return content(directory, files(directory).at(-1) ?? 'none');
}

function content(directory: string, file: string): string {
  return readFileSync(join(directory, file), 'utf8');
}

describe('the spool', () => {
  test('the spool writes lines in order, readable for its owner only', async (t) => {
    const { spool, write, directory } = start(t);
    write('one');
    write('zwei \u4e2d');
    await spool.flush();
    write('three');
    await spool.flush();
    assert.equal(newest(directory), 'one\nzwei \u4e2d\nthree\n');
    assert.equal(statSync(join(directory, files(directory)[0] ?? '')).mode & 0o777, 0o600);
    assert.equal(statSync(directory).mode & 0o777, 0o700);
    assert.equal(spool.dropped(), 0);
  });

  test('the spool writes by itself, soon', async (t) => {
    const { write, directory } = start(t);
    write('one');
    await eventually('the line is on disk', () => newest(directory) === 'one\n');
  });

  test('the spool starts a file at each full hour of the zone, and ends an idle one', async (t) => {
    const bench = start(t);
    bench.write('before midnight');
    bench.now = START + HOUR / 2; // 00:00 in Shanghai
    bench.write('after midnight');
    await bench.spool.flush();
    const [ended = '', current = ''] = files(bench.directory);
    assert.match(ended, /^edge-1-20250131T\d{9}Z-\d{4}\.log$/);
    assert.equal(content(bench.directory, ended), 'before midnight\n');
    assert.equal(content(bench.directory, current), 'after midnight\n');
    bench.now += HOUR;
    await bench.spool.flush();
    assert.equal(files(bench.directory).length, 2);
    assert.deepEqual(
      journals(bench.directory),
      [ended, current].map((file) => file.replace('.log', '.done')),
    );
  });

  for (const [zone, change] of [
    ['Europe/Berlin', '2026-03-29T01:00:00Z'],
    ['Europe/Berlin', '2026-10-25T01:00:00Z'],
    ['America/Santiago', '2026-04-05T03:00:00Z'], // midnight is 23:00 again
    ['America/Santiago', '2026-09-06T04:00:00Z'], // midnight is 01:00
    ['Australia/Lord_Howe', '2026-04-04T15:00:00Z'], // half an hour
    ['Pacific/Chatham', '2026-04-04T14:00:00Z'], // 03:45 is 02:45 again
  ] as const) {
    for (const rotateMs of [HOUR, HOUR / 6])
      test(`every hour of the zone has files of its own when its clocks change: ${zone}, ${change}, ${rotateMs} ms`, async (t) => {
        const local = createLocalTime(zone);
        const bench = start(t, { zone: local, rotateMs });
        for (let minutes = -120; minutes <= 120; minutes += 10) {
          bench.now = Date.parse(change) + minutes * 60_000;
          const shown = local.format(bench.now);
          bench.write(shown.slice(0, 13) + shown.slice(-6)); // hour and offset
          await bench.spool.flush();
        }
        const contents = files(bench.directory).map((file) => content(bench.directory, file).trim().split('\n'));
        assert.ok(
          contents.every((lines) => new Set(lines).size === 1),
          JSON.stringify(contents),
        );
        assert.equal(contents.flat().length, 25);
        // Each begins one: five hours, and one more where the change is no full hour.
        if (rotateMs === HOUR) assert.ok(contents.length <= 6, String(contents.length));
        else assert.equal(contents.length, 25);
      });
  }

  test('the spool starts a file before the limit is passed, and keeps only the newest finished ones', async (t) => {
    const { spool, write, directory } = start(t, { rotateBytes: 10, keepBytes: 20 });
    for (let i = 0; i < 12; i++) {
      write(`line${i}`);
      await spool.flush();
    }
    const kept = files(directory);
    assert.equal(kept.length, 4);
    assert.deepEqual(
      kept.map((file) => content(directory, file)),
      ['line8\n', 'line9\n', 'line10\n', 'line11\n'],
    );
  });

  test('a file takes 64 MiB by default, and not a line more', async (t) => {
    const [line, lines] = ['x'.repeat(64 * 1024 - 1), 1024];
    const queued = { maxQueueBytes: 2 * 64 * 1024 * lines, keepBytes: Number.MAX_SAFE_INTEGER };
    const { spool, write, directory } = start(t, queued);
    for (let i = 0; i < lines; i++) write(line);
    await spool.flush();
    const sizes = () => files(directory).map((file) => statSync(join(directory, file)).size);
    assert.deepEqual(sizes(), [64 * 1024 * 1024]);
    write('one more');
    await spool.flush();
    assert.deepEqual(sizes(), [64 * 1024 * 1024, 9]);
  });

  test('the spool leaves other files of the folder unchanged', async (t) => {
    const { spool, write, directory } = start(t, { rotateBytes: 1, keepBytes: 0 });
    mkdirSync(directory);
    const others = [
      'edge-1-20250101T000000000Z-0000.log.gz',
      'edge-10-20250101T000000000Z-0000.log',
      'edge-1-notes.log',
      'edge-1-20250101T000000000Z-0001.log',
    ];
    for (const name of others) writeFileSync(join(directory, name), 'x');
    for (const line of ['a', 'b', 'c']) {
      write(line);
      await spool.flush();
    }
    assert.ok(others.every((file) => existsSync(join(directory, file))));
    assert.ok(files(directory).some((file) => content(directory, file) === 'c\n'));
  });

  test('the spool ends the files of an earlier process, perhaps with half a line', async (t) => {
    const { spool, write, directory, reports } = start(t);
    mkdirSync(directory);
    writeFileSync(join(directory, 'edge-1-20250131T153000000Z-0000.log'), 'old\nhal');
    writeFileSync(join(directory, 'edge-1-20250131T153000000Z-0000.stats'), '');
    write('new');
    await spool.flush();
    const [left = ''] = files(directory);
    assert.equal(content(directory, left), 'old\nhal');
    assert.equal(newest(directory), 'new\n');
    assert.deepEqual(journals(directory), [
      'edge-1-20250131T153000000Z-0000.done',
      'edge-1-20250131T153000000Z-0001.stats',
    ]);
    assert.match(reports.join(), /was killed: requests of its last 500 ms may be missing/);
  });

  test('the spool continues in other files if its journal is removed, and ends the log that has none', async (t) => {
    const { directory, spool, write } = start(t);
    write('one');
    await spool.flush();
    for (const file of journals(directory)) rmSync(join(directory, file));
    write('two');
    await spool.flush();
    const [first = '', second = ''] = files(directory).map((file) => file.replace('.log', ''));
    assert.deepEqual(journals(directory), [`${first}.done`, `${second}.stats`]);
  });

  test('the spool never overwrites a finished file, even within one millisecond', async (t) => {
    const folder = join(temporaryFolder(t), 'logs');
    for (const line of ['a', 'b', 'c']) {
      const { spool, write } = start(t, { directory: folder });
      write(line);
      await spool.close();
    }
    assert.deepEqual(
      files(folder).map((file) => content(folder, file)),
      ['a\n', 'b\n', 'c\n'],
    );
  });

  test('the spool drops and counts lines beyond its queue, and accepts lines again when there is room', async (t) => {
    const { spool, write, directory, reports } = start(t, { maxQueueBytes: 10 });
    for (const line of ['1234', '5678', 'over', 'over']) write(line);
    assert.equal(spool.dropped(), 2);
    await spool.flush();
    write('9012');
    await spool.flush();
    assert.equal(newest(directory), '1234\n5678\n9012\n');
    assert.equal(spool.dropped(), 2);
    assert.equal(reports.length, 1);
  });

  test('the spool counts lines that cannot be written, reports it once a minute, and recovers', async (t) => {
    const folder = temporaryFolder(t);
    const directory = join(folder, 'logs');
    writeFileSync(directory, 'a file where the folder should be');
    const bench = start(t, { directory });
    for (let i = 0; i < 3; i++) {
      bench.write('lost');
      await bench.spool.flush();
    }
    assert.equal(bench.spool.dropped(), 3);
    assert.equal(bench.reports.length, 1);
    bench.now += 60_000;
    bench.write('lost');
    await bench.spool.flush();
    assert.equal(bench.reports.length, 2);
    assert.match(bench.reports[1] ?? '', /"droppedLines":4.*cannot write/);
    rmSync(directory);
    bench.write('kept');
    await bench.spool.flush();
    assert.equal(newest(directory), 'kept\n');
    assert.equal(bench.spool.dropped(), 4);
  });

  test('the spool takes a half-written batch back, so that every line in a file is whole', (t) => {
    const directory = join(temporaryFolder(t), 'logs');
    const script = `
      const { openSpool } = await import(process.argv[1]);
      const spool = openSpool({
        directory: process.argv[2], name: 'edge-1', maxQueueBytes: 1e6, keepBytes: 1e6,
        format: (_, { target }) => target,
        zone: { hourStartOf: () => 0 }, clock: () => 0, log: { warn: () => undefined },
      });
      for (const lines of [['first'], Array(100).fill('x'.repeat(99)), ['last']]) {
        for (const target of lines) spool.write(7, { endedAt: 0, target });
        await spool.flush();
      }
      process.stdout.write(String(spool.dropped()));
    `;
    // No file beyond two blocks of 512 bytes: the second batch gets as far as that.
    const args = ['-c', 'ulimit -f 2 && exec "$0" --input-type=module -e "$1" "$2" "$3"', process.execPath, script];
    const child = spawnSync('sh', [...args, import.meta.resolve('./spool.ts'), directory], { encoding: 'utf8' });
    assert.equal(child.stdout, '100', child.stderr);
    assert.deepEqual(
      files(directory).flatMap((file) => content(directory, file).split('\n')),
      ['first', '', 'last', ''],
    );
  });

  test('the spool records the sums of the lines, and up to which byte', async (t) => {
    const bench = start(t);
    const { spool, directory } = bench;
    spool.write(7, { ...RECORD, target: 'a' });
    spool.write(7, { ...RECORD, target: 'b', cacheCode: 'TCP_MISS', status: 404 });
    spool.write(0, { ...RECORD, target: 'c', cacheCode: 'NONE', status: 400 });
    await spool.flush();
    spool.countOrigin(7, 5);
    spool.write(7, { ...RECORD, target: 'd', endedAt: START + 60_000 });
    await spool.flush();
    const [journal = ''] = journals(directory);
    const minute = START / 60_000;
    const one = { ...noCounters(), requests: 1, bytesIn: 10, bytesOut: 100 };
    const records = content(directory, journal).split('\n').map(parseRecord);
    assert.deepEqual(
      records.filter((record) => record !== undefined),
      [
        {
          upTo: 6,
          counts: [
            {
              domainId: 7,
              minute,
              ...one,
              requests: 2,
              bytesIn: 20,
              bytesOut: 200,
              hits: 1,
              hitBytes: 100,
              status2xx: 1,
              status4xx: 1,
            },
            { domainId: 0, minute, ...one, status4xx: 1 },
          ],
        },
        {
          upTo: 8,
          counts: [
            { domainId: 7, minute: minute + 1, ...one, hits: 1, hitBytes: 100, status2xx: 1 },
            { ...noCounters(), domainId: 7, minute, bytesOrigin: 5 },
          ],
        },
      ],
    );
  });

  test('the spool counts requests whose lines are lost', async (t) => {
    const { spool, write, directory } = start(t, { maxQueueBytes: 3 });
    for (const line of ['a', 'b']) write(line);
    await spool.flush();
    assert.equal(spool.dropped(), 1);
    const [journal = ''] = journals(directory);
    const counts = content(directory, journal)
      .split('\n')
      .flatMap((line) => parseRecord(line)?.counts ?? []);
    assert.equal(
      counts.reduce((sum, { requests }) => sum + requests, 0),
      2,
    );
  });

  test('the spool notices that its folder was removed', async (t) => {
    const { spool, write, directory } = start(t);
    write('one');
    await spool.flush();
    renameSync(directory, `${directory}.gone`);
    write('two');
    await spool.flush();
    assert.equal(newest(directory), 'two\n');
    assert.equal(newest(`${directory}.gone`), 'one\n');
  });

  test('a closed spool drops lines without harm; closing twice is fine', async (t) => {
    const { spool, write, directory } = start(t);
    write('one');
    await spool.close();
    write('two');
    await spool.close();
    await spool.flush();
    assert.equal(newest(directory), 'one\n');
    assert.equal(spool.dropped(), 1);
  });

  test('the spool takes a large burst without losing or mixing a line', async (t) => {
    const { spool, write, directory } = start(t, {
      maxQueueBytes: 64 * 1024 * 1024,
      rotateBytes: 2 * 1024 * 1024,
      keepBytes: 64 * 1024 * 1024,
    });
    const lines = Array.from({ length: 80_000 }, (_, i) => `${i} ${'x'.repeat(100)}`);
    for (const line of lines) write(line);
    await spool.flush();
    const written = files(directory).map((file) => content(directory, file));
    assert.ok(written.length > 3 && written.every((text) => text.length <= 2 * 1024 * 1024));
    assert.deepEqual(written.join('').split('\n').slice(0, -1), lines);
  });

  test('the spool has a name that cannot leave its folder', () => {
    const options = {
      directory: '/nowhere',
      maxQueueBytes: 1,
      keepBytes: 1,
      format: () => '',
      zone: createLocalTime('UTC'),
      clock: () => 0,
    };
    const log = createLogger({ level: 'silent', name: 'test' });
    for (const name of ['', '../x', 'a/b', 'A', 'a.b']) {
      assert.throws(() => openSpool({ ...options, log, name }), RangeError);
    }
  });
});
