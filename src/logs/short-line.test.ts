/** Members that hits share are written once per batch; a reader of the spool gets every line in full. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { createLocalTime } from '#lib/local-time.ts';
import { createLogger } from '#lib/logger.ts';
import { HIT } from '../../test/support/logs/access-record.ts';
import { temporaryFolder } from '../../test/support/temporary.ts';
import { addCounters, countRequest, noCounters } from './counters.ts';
import { expandLines } from './expand.ts';
import { AnsweredPart, ClientPart } from './hit-record.ts';
import { parseRecord } from './journal.ts';
import { type AccessRecord, formatAddress, formatAnswered, formatLine } from './line.ts';
import { MAX_LINES_BACK } from './short-line.ts';
import { openSpool, type SpoolOptions } from './spool.ts';

const ZONE = createLocalTime('Asia/Shanghai');
const BATCH_BYTES = 1024 * 1024;
const START = Date.parse('2025-01-31T15:29:58.500Z');

interface Bench {
  /** An answer and a client of that number are the same each time. */
  hit(answer: number, client: number, changes?: Partial<AccessRecord>): void;
  write(changes?: Partial<AccessRecord>): void;
  flush(): Promise<void>;
  /** Content of all files, as written and as expanded. */
  written(): string;
  read(): Promise<string>;
  readEach(): Promise<readonly string[]>;
  /** Lines as `formatLine` has them, of all that was given. */
  readonly expected: string[];
  readonly sums: { readonly counted: ReturnType<typeof noCounters>; journals(): ReturnType<typeof noCounters> };
  now: number;
}

function start(t: TestContext, changes: Partial<SpoolOptions> = {}): Bench {
  const directory = join(temporaryFolder(t), 'logs');
  const answers = new Map<number, AnsweredPart>();
  const clients = new Map<number, ClientPart>();
  const expected: string[] = [];
  const counted = noCounters();
  const spool = openSpool({
    directory,
    name: 'edge-1',
    format: (id, record) => `${id}\t${formatLine(record, ZONE)}`,
    maxQueueBytes: 64 * 1024 * 1024,
    keepBytes: 1e9,
    zone: ZONE,
    clock: () => bench.now,
    log: createLogger({ level: 'silent', name: 'test' }),
    ...changes,
  });
  t.after(() => spool.close());
  const texts = (ending: RegExp) =>
    readdirSync(directory)
      .filter((file) => ending.test(file))
      .sort()
      .map((file) => readFileSync(join(directory, file)));
  const readEach = async () => (await Promise.all(texts(/\.log$/).map(expandLines))).map(String);
  const note = (domainId: number, record: AccessRecord) => {
    expected.push(`${domainId}\t${formatLine(record, ZONE)}\n`);
    countRequest(counted, record);
  };
  const bench: Bench = {
    now: START,
    expected,
    hit: (answer, client, more = {}) => {
      const clientAddress = `203.0.113.${client}`;
      const record = { ...HIT, clientAddress, target: `/${answer}`, endedAt: bench.now, ...more };
      const { referer = '', userAgent = '' } = record;
      const answered = answers.get(answer) ?? new AnsweredPart(Buffer.from(formatAnswered(record)));
      answers.set(answer, answered);
      const from = clients.get(client) ?? new ClientPart(Buffer.from(formatAddress(clientAddress)));
      clients.set(client, from);
      const domainId = 1 + (answer % 2);
      spool.writeHit({
        ...record,
        domainId,
        answered,
        client: from,
        fields: Buffer.from(`x${referer}${userAgent}`, 'latin1'),
        refererStart: 1,
        refererEnd: 1 + referer.length,
        userAgentStart: 1 + referer.length,
        userAgentEnd: 1 + referer.length + userAgent.length,
        hasEscapes: /[^ -[\]-~]/.test(referer + userAgent),
      });
      note(domainId, record);
    },
    write: (more = {}) => {
      const record = { ...HIT, endedAt: bench.now, ...more };
      spool.write(9, record);
      note(9, record);
    },
    flush: () => spool.flush(),
    written: () => texts(/\.log$/).join(''),
    read: async () => (await readEach()).join(''),
    readEach,
    sums: {
      counted,
      journals: () => {
        const sum = noCounters();
        for (const line of texts(/\.(stats|done)$/)
          .join('\n')
          .split('\n'))
          for (const one of parseRecord(line)?.counts ?? []) addCounters(sum, one);
        return sum;
      },
    },
  };
  return bench;
}

const AGENT = 'Mozilla/5.0 (X11; Linux x86_64)';

/** A record that differs from `HIT` in every member. */
const CHANGED: Required<Omit<AccessRecord, 'isContinued' | 'protocol'>> = {
  clientAddress: '203.0.113.77',
  endedAt: START + 5,
  durationMs: 2,
  requestBytes: 11,
  responseBytes: 101,
  host: 'other.example.com',
  method: 'HEAD',
  target: '/other',
  httpVersion: '2.0',
  cacheCode: 'TCP_IMS_HIT',
  status: 304,
  contentType: 'text/plain',
  referer: 'https://example.org/',
  userAgent: 'B/1',
};
/** Whatever differs in one of them has been answered anew; the rest is of the request or of its client. */
const ANSWERED: readonly string[] = ['host', 'method', 'target', 'httpVersion', 'cacheCode', 'status', 'contentType'];

describe('short lines of hits', () => {
  for (const [member, value] of Object.entries(CHANGED)) {
    test(`short lines that differ in ${member} only are both expanded correctly`, async (t) => {
      const bench = start(t);
      const client = member === 'clientAddress' ? 77 : 1;
      for (const _ of ['whole', 'short']) bench.hit(1, 1, { target: '/1' });
      bench.hit(ANSWERED.includes(member) ? 3 : 1, client, { target: '/1', [member]: value });
      bench.hit(1, 1, { target: '/1' });
      await bench.flush();
      assert.match(bench.written(), /\n=/);
      assert.notEqual(bench.expected[2], bench.expected[0]);
      assert.equal(await bench.read(), bench.expected.join(''));
    });
  }

  test('short lines repeat nothing of their batch', async (t) => {
    const bench = start(t);
    const fields = { referer: 'https://example.org/list', userAgent: AGENT };
    bench.hit(1, 1, fields);
    bench.hit(1, 2, fields);
    bench.write();
    bench.now += 17;
    bench.hit(1, 2, { ...fields, durationMs: 3, requestBytes: 400, responseBytes: 12_345_678_901 });
    bench.hit(2, 1, fields);
    bench.hit(1, 1, fields);
    await bench.flush();
    const lines = bench.written().split('\n');
    assert.deepEqual([lines[3], lines[5]], ['=1\t1\t17\t3\t400\t12345678901', '=2\t0\t17\t1\t10\t100']);
    bench.hit(1, 1, fields); // another batch
    await bench.flush();
    assert.equal(bench.written().split('\n')[6], bench.expected.at(-1)?.trimEnd());
    assert.equal(await bench.read(), bench.expected.join(''));
    assert.deepEqual(bench.sums.journals(), bench.sums.counted);
  });

  test('lines are not shortened if a client has sent something else, or the clock was set back', async (t) => {
    const bench = start(t);
    bench.hit(1, 1, { referer: 'https://example.org/1', userAgent: AGENT });
    for (const fields of [
      { referer: 'https://example.org/2', userAgent: AGENT },
      { referer: `https://example.org/2${AGENT.slice(0, 1)}`, userAgent: AGENT.slice(1) },
      { referer: undefined, userAgent: AGENT },
      { referer: '-', userAgent: AGENT },
      { referer: '\\', userAgent: AGENT },
      { referer: '\\', userAgent: AGENT },
      { referer: 'r'.repeat(3_000), userAgent: AGENT },
      { referer: 'r'.repeat(3_000), userAgent: AGENT },
      {},
    ])
      bench.hit(1, 1, fields);
    bench.now -= 1;
    bench.hit(1, 1);
    await bench.flush();
    assert.equal(bench.written(), bench.expected.join(''));
    bench.hit(1, 1);
    bench.hit(1, 1);
    await bench.flush();
    assert.notEqual(bench.written(), bench.expected.join(''));
    assert.equal(await bench.read(), bench.expected.join(''));
  });

  test('short lines do not refer to a line that is too far back', async (t) => {
    const bench = start(t);
    bench.hit(0, 1);
    for (let answer = 1; answer < MAX_LINES_BACK; answer++) bench.hit(answer, 1);
    bench.hit(0, 1);
    bench.hit(MAX_LINES_BACK, 1);
    const whole = bench.expected.length - 1;
    bench.hit(0, 1);
    await bench.flush();
    const lines = bench.written().split('\n');
    assert.equal(lines.at(-4), `=${MAX_LINES_BACK - 1}\t0\t0\t1\t10\t100`);
    assert.equal(lines.filter((line) => !line.startsWith('=')).length - 1, whole + 1);
    assert.equal(await bench.read(), bench.expected.join(''));
  });

  test('most lines of many answers are short, however long the batch before takes to be written', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] }); // so that batches are written when they are full
    const bench = start(t);
    const answers = 1_000;
    for (let n = 0; n < 120_000; n++) {
      bench.hit(n % answers, 1, { userAgent: AGENT });
      if (n % 100 === 0) await setImmediate();
    }
    await bench.flush();
    const batches = Math.ceil(bench.written().length / BATCH_BYTES);
    assert.ok(batches > 2);
    assert.equal(bench.written().match(/^[^=]/gm)?.length, batches * answers);
    assert.equal(await bench.read(), bench.expected.join(''));
    assert.deepEqual(bench.sums.journals(), bench.sums.counted);
  });

  test('short lines end a file by their expanded size', async (t) => {
    const bench = start(t, { rotateBytes: 10_000 });
    for (let round = 0; round < 3; round++) {
      for (let n = 0; n < 50; n++) bench.hit(1, 1, { userAgent: 'a'.repeat(50) });
      await bench.flush();
    }
    assert.equal(await bench.read(), bench.expected.join(''));
    assert.equal(bench.written().match(/^[^=]/gm)?.length, 3);
    assert.ok(bench.written().length < 5_000);
  });

  test('short lines of one batch expand to no more than a file may have', async (t) => {
    const bench = start(t, { rotateBytes: 9_000_000 });
    const fields = { referer: 'r'.repeat(2_000), userAgent: 'a'.repeat(1_000) };
    for (let n = 0; n < 4_000; n++) bench.hit(1, 1, fields);
    await bench.flush();
    const files = await bench.readEach();
    assert.equal(files.join(''), bench.expected.join(''));
    for (const { length } of files) assert.ok(length <= 9_000_000, `${length}`);
  });

  test('law: short lines are read as they were meant, whatever arrives, and counted', async (t) => {
    const field = fc.constantFrom(
      ...[undefined, 'https://example.org/', 'https://example.org/2', AGENT, 'é\\', 'x', '-', '=0', '\t=0\t0', '\0\n'],
      ...[1_024, 1_025, 2_048, 2_049, 8_192].map((length) => 'y'.repeat(length)),
    );
    const step = fc.record({
      kind: fc.constantFrom('hit', 'hit', 'hit', 'hit', 'write', 'flush'),
      answer: fc.nat(3),
      client: fc.nat(2),
      later: fc.constantFrom(0, 0, 0, 1, 700, -3, 900_000),
      fields: fc.record({
        referer: field,
        userAgent: field,
        responseBytes: fc.nat({ max: 2 ** 40 }),
        durationMs: fc.nat(),
      }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const bench = start(t);
        for (const { kind, answer, client, later, fields } of steps) {
          bench.now += later;
          if (kind === 'hit') bench.hit(answer, client, fields);
          else if (kind === 'write') bench.write();
          else await bench.flush();
        }
        await bench.flush();
        // Files of another hour may come in another order.
        assert.deepEqual((await bench.read()).split('\n').sort(), bench.expected.join('').split('\n').sort());
        assert.deepEqual(bench.sums.journals(), bench.sums.counted);
      }),
      { numRuns: 40 },
    );
  });
});

describe('expansion of short lines', () => {
  const WHOLE = `7\t${formatLine({ ...HIT, endedAt: START }, ZONE)}\n`;

  test('a file without short lines is expanded to the same bytes', async () => {
    for (const text of ['', WHOLE, WHOLE + WHOLE.slice(0, 20)]) {
      const bytes = Buffer.from(text);
      assert.equal(await expandLines(bytes), bytes);
    }
  });

  test('bytes that are not a line are kept', async () => {
    const short = '=0\t0\t5\t1\t10\t100\n';
    const later = WHOLE.replace('58.500', '58.505');
    for (const [text, expected] of [
      [short, short],
      [`${WHOLE}=0\t0\t5\t1\t10\t10`, `${WHOLE}=0\t0\t5\t1\t10\t10`],
      [WHOLE + short + short, WHOLE + later + later],
      [`${WHOLE}=1\t0\t5\t1\t10\t100\n`, `${WHOLE}=1\t0\t5\t1\t10\t100\n`],
      [`${WHOLE}=0\t1\t5\t1\t10\t100\n`, `${WHOLE}=0\t1\t5\t1\t10\t100\n`],
      [`${WHOLE}=0\t0\t5\t1\tx\t100\n`, `${WHOLE}=0\t0\t5\t1\tx\t100\n`],
      [`${WHOLE}=0\t0\t5\t1\t10\t1\t2\n`, `${WHOLE}=0\t0\t5\t1\t10\t1\t2\n`],
      [`nonsense\n${short}`, `nonsense\n${short}`],
      [`${WHOLE}nonsense\n${WHOLE}${short}`, `${WHOLE}nonsense\n${WHOLE}${later}`],
    ] as const)
      assert.equal((await expandLines(Buffer.from(text))).toString(), expected);
  });

  // A power failure leaves bytes that were not on the disk yet cut off, or zeros.
  test("law: an expanded line is never another's, whatever a damaged file has lost", async (t) => {
    const bench = start(t);
    for (let n = 0; n < 60; n++)
      bench.hit((n * 7) % 5, (n * 3) % 4, { userAgent: `${AGENT} ${(n * 3) % 4}`, durationMs: n });
    await bench.flush();
    const bytes = Buffer.from(bench.written());
    const place = fc.nat({ max: bytes.length });
    await fc.assert(
      fc.asyncProperty(place, place, fc.boolean(), async (one, other, isCut) => {
        const [from, to] = [Math.min(one, other), Math.max(one, other)];
        const damaged = isCut ? bytes.subarray(0, to) : Buffer.from(bytes).fill(0, from, to);
        const lines = (await expandLines(damaged)).toString().split('\n').slice(0, -1);
        for (const line of lines) {
          const isOurs = bench.expected.includes(`${line}\n`);
          assert.ok(isOurs || line.includes('\0') || line.startsWith('='), line);
        }
        const first = lines.findIndex((line, n) => `${line}\n` !== bench.expected[n]);
        const intact =
          damaged
            .subarray(0, isCut ? to : from)
            .toString('latin1')
            .split('\n').length - 1;
        assert.ok(first === -1 || first >= intact, `${first} of ${intact}`);
      }),
      { numRuns: 400 },
    );
  });
});
