import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { createLocalTime } from '#lib/local-time.ts';
import { createLogger } from '#lib/logger.ts';
import { eventually } from '../../test/support/eventually.ts';
import { temporaryFolder } from '../../test/support/temporary.ts';
import { type AccessLog, openSpool, type SpoolOptions } from './spool.ts';

const START = Date.parse('2025-01-31T15:30:00.000Z');
const HOUR = 3_600_000;

interface Bench {
  readonly spool: AccessLog;
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
    maxQueueBytes: 1024 * 1024,
    keepFiles: 3,
    zone: createLocalTime('Asia/Shanghai'),
    clock: () => bench.now,
    log: createLogger({ level: 'warn', name: 'test', destination: { write: (line) => void reports.push(line) } }),
    ...changes,
  });
  t.after(() => spool.close());
  return Object.assign(bench, { spool });
}

function files(directory: string): string[] {
  return readdirSync(directory).sort();
}

function content(directory: string, file: string): string {
  return readFileSync(join(directory, file), 'utf8');
}

describe('the spool', () => {
  test('writes lines in order, readable for its owner only', async (t) => {
    const { spool, directory } = start(t);
    spool.write('one');
    spool.write('zwei \u4e2d');
    await spool.flush();
    spool.write('three');
    await spool.flush();
    assert.equal(content(directory, 'edge-1.log'), 'one\nzwei \u4e2d\nthree\n');
    assert.equal(statSync(join(directory, 'edge-1.log')).mode & 0o777, 0o600);
    assert.equal(statSync(directory).mode & 0o777, 0o700);
    assert.equal(spool.dropped(), 0);
  });

  test('writes by itself, soon', async (t) => {
    const { spool, directory } = start(t);
    spool.write('one');
    await eventually('the line is on disk', () => content(directory, 'edge-1.log') === 'one\n');
  });

  test('starts a file at each full hour of the zone, and ends an idle one', async (t) => {
    const bench = start(t);
    bench.spool.write('before midnight');
    bench.now = START + HOUR / 2; // 00:00 in Shanghai
    bench.spool.write('after midnight');
    await bench.spool.flush();
    const [ended = '', current = ''] = files(bench.directory);
    assert.match(ended, /^edge-1-20250131T160000000Z-\d{4}\.log$/);
    assert.equal(content(bench.directory, ended), 'before midnight\n');
    assert.equal(content(bench.directory, current), 'after midnight\n');
    bench.now += HOUR;
    await bench.spool.flush();
    assert.equal(files(bench.directory).length, 2);
    assert.equal(files(bench.directory).includes('edge-1.log'), false);
  });

  test('starts a file before the limit is passed, and keeps only the newest finished ones', async (t) => {
    const { spool, directory } = start(t, { rotateBytes: 10 });
    for (let i = 0; i < 12; i++) {
      spool.write(`line${i}`);
      await spool.flush();
    }
    const kept = files(directory);
    assert.equal(kept.length, 4);
    assert.deepEqual(
      kept.map((file) => content(directory, file)),
      ['line8\n', 'line9\n', 'line10\n', 'line11\n'],
    );
  });

  test('leaves other files of the folder alone', async (t) => {
    const { spool, directory } = start(t, { rotateBytes: 1, keepFiles: 0 });
    mkdirSync(directory);
    const others = [
      'edge-1-20250101T000000000Z-0000.log.gz',
      'edge-10-20250101T000000000Z-0000.log',
      'edge-1-notes.log',
    ];
    for (const name of others) writeFileSync(join(directory, name), 'x');
    for (const line of ['a', 'b', 'c']) {
      spool.write(line);
      await spool.flush();
    }
    assert.deepEqual(files(directory), [...others, 'edge-1.log'].sort());
  });

  test('gives what an earlier process left, perhaps half a line, a file of its own', async (t) => {
    const { spool, directory } = start(t);
    mkdirSync(directory);
    writeFileSync(join(directory, 'edge-1.log'), 'old\nhal');
    spool.write('new');
    await spool.flush();
    const [left = ''] = files(directory);
    assert.equal(content(directory, left), 'old\nhal');
    assert.equal(content(directory, 'edge-1.log'), 'new\n');
  });

  test('never overwrites a finished file, even within one millisecond', async (t) => {
    const folder = join(temporaryFolder(t), 'logs');
    for (const line of ['a', 'b', 'c']) {
      const { spool } = start(t, { directory: folder });
      spool.write(line);
      await spool.close();
    }
    assert.deepEqual(
      files(folder).map((file) => content(folder, file)),
      ['a\n', 'b\n', 'c\n'],
    );
  });

  test('drops and counts what does not fit into the queue, and takes lines again when there is room', async (t) => {
    const { spool, directory, reports } = start(t, { maxQueueBytes: 10 });
    for (const line of ['1234', '5678', 'over', 'over']) spool.write(line);
    assert.equal(spool.dropped(), 2);
    await spool.flush();
    spool.write('9012');
    await spool.flush();
    assert.equal(content(directory, 'edge-1.log'), '1234\n5678\n9012\n');
    assert.equal(spool.dropped(), 2);
    assert.equal(reports.length, 1);
  });

  test('counts what cannot be written, reports it once a minute, and recovers', async (t) => {
    const folder = temporaryFolder(t);
    const directory = join(folder, 'logs');
    writeFileSync(directory, 'a file where the folder should be');
    const bench = start(t, { directory });
    for (let i = 0; i < 3; i++) {
      bench.spool.write('lost');
      await bench.spool.flush();
    }
    assert.equal(bench.spool.dropped(), 3);
    assert.equal(bench.reports.length, 1);
    bench.now += 60_000;
    bench.spool.write('lost');
    await bench.spool.flush();
    assert.equal(bench.reports.length, 2);
    assert.match(bench.reports[1] ?? '', /"droppedLines":4.*cannot be written/);
    rmSync(directory);
    bench.spool.write('kept');
    await bench.spool.flush();
    assert.equal(content(directory, 'edge-1.log'), 'kept\n');
    assert.equal(bench.spool.dropped(), 4);
  });

  test('counts what a full disk does not take', async (t) => {
    const { spool, directory, reports } = start(t);
    mkdirSync(directory);
    symlinkSync('/dev/full', join(directory, 'edge-1.log'));
    spool.write('lost');
    spool.write('lost');
    await spool.flush();
    assert.equal(spool.dropped(), 2);
    assert.match(reports[0] ?? '', /ENOSPC/);
  });

  test('takes a half-written batch back, so that every line in a file is whole', (t) => {
    const directory = join(temporaryFolder(t), 'logs');
    const script = `
      const { openSpool } = await import(process.argv[1]);
      const spool = openSpool({
        directory: process.argv[2], name: 'edge-1', maxQueueBytes: 1e6, keepFiles: 3,
        zone: { hourOf: () => 0 }, clock: () => 0, log: { warn: () => undefined },
      });
      for (const lines of [['first'], Array(100).fill('x'.repeat(99)), ['last']]) {
        for (const line of lines) spool.write(line);
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

  test('notices that its folder was taken away', async (t) => {
    const { spool, directory } = start(t);
    spool.write('one');
    await spool.flush();
    renameSync(directory, `${directory}.gone`);
    spool.write('two');
    await spool.flush();
    assert.equal(content(directory, 'edge-1.log'), 'two\n');
    assert.equal(content(`${directory}.gone`, 'edge-1.log'), 'one\n');
  });

  test('after closing drops lines without harm; closing twice is fine', async (t) => {
    const { spool, directory } = start(t);
    spool.write('one');
    await spool.close();
    spool.write('two');
    await spool.close();
    await spool.flush();
    assert.equal(content(directory, 'edge-1.log'), 'one\n');
    assert.equal(spool.dropped(), 1);
  });

  test('takes a large burst without losing or mixing a line', async (t) => {
    const { spool, directory } = start(t, {
      maxQueueBytes: 64 * 1024 * 1024,
      rotateBytes: 1024 * 1024,
      keepFiles: 100,
    });
    const lines = Array.from({ length: 40_000 }, (_, i) => `${i} ${'x'.repeat(100)}`);
    for (const line of lines) spool.write(line);
    await spool.flush();
    const names = files(directory).filter((file) => file !== 'edge-1.log');
    const written = [...names, 'edge-1.log'].map((file) => content(directory, file));
    assert.ok(written.length > 3 && written.every((text) => text.length <= 1024 * 1024));
    assert.deepEqual(written.join('').split('\n').slice(0, -1), lines);
  });

  test('has a name that cannot leave its folder', () => {
    const options = {
      directory: '/nowhere',
      maxQueueBytes: 1,
      keepFiles: 1,
      zone: createLocalTime('UTC'),
      clock: () => 0,
    };
    const log = createLogger({ level: 'silent', name: 'test' });
    for (const name of ['', '../x', 'a/b', 'A', 'a.b']) {
      assert.throws(() => openSpool({ ...options, log, name }), RangeError);
    }
  });
});
