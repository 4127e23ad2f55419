import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PreparedLines } from './prepared-lines.ts';
import { formatPrepared, type LoggedAnswer } from './ready-answer.ts';

test('each line ends with the fields of its own request, whatever the line before had', () => {
  const answer: LoggedAnswer = {
    domainId: 1,
    host: 'www.example.com',
    target: '/',
    contentType: undefined,
    status: 200,
    cacheCode: 'TCP_MEM_HIT',
  };
  const written: string[] = [];
  const lines = new PreparedLines(
    {
      clock: () => 1,
      writeLog: () => undefined,
      writeHit: ({ fields, refererStart, refererEnd, userAgentStart, userAgentEnd, hasEscapes }) => {
        const field = (start: number, end: number) => fields.toString('latin1', start, end);
        written.push(`${field(refererStart, refererEnd)}|${field(userAgentStart, userAgentEnd)}|${hasEscapes}`);
      },
      metrics: { countPrepared: () => undefined },
    },
    '2.0',
  );
  const long = 'x'.repeat(2_000);
  const rows: readonly (readonly [referer: string | undefined, userAgent: string | undefined, line: string])[] = [
    [undefined, undefined, '||false'],
    ['a', 'b', 'a|b|false'],
    ['a', 'b', 'a|b|false'],
    ['a', 'c', 'a|c|false'],
    ['ac', undefined, 'ac||false'],
    [undefined, 'ac', '|ac|false'],
    ['\xe4', 'b\\', '\xe4|b\\|true'],
    ['\xe4', 'b\\', '\xe4|b\\|true'],
    ['a', long, `a|${long}|false`],
    ['a', long, `a|${long}|false`],
    ['a', 'b', 'a|b|false'],
    [undefined, undefined, '||false'],
  ];
  for (const [referer, userAgent, line] of rows) {
    const request = { clientAddress: '192.0.2.1', referer, userAgent };
    lines.conclude({ answer, request, startedAt: 0, requestBytes: 1 }, formatPrepared(answer, '2.0'), 1, true);
    assert.equal(written.pop(), line);
  }
});
