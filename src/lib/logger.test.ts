import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger, hideSecrets } from './logger.ts';

test('a line is JSON with level, time, name and message', () => {
  const [line] = linesOf((log) => log.info({ port: 8700 }, 'listening'));
  const { time, ...rest } = JSON.parse(line ?? '');
  assert.match(time, /^\d{4}-\d\d-\d\dT.*Z$/);
  assert.deepEqual(withoutProcess(rest), { level: 'info', name: 'test', port: 8700, msg: 'listening' });
});

test('secrets are hidden at any depth, in bindings, in errors and in texts', () => {
  const lines = linesOf((log) => {
    log.info({ a: { b: [{ access_token: 'hush', c: { private_key: '-----\n"hush"' } }] } });
    log.child({ localSecret: 'hush' }).info('child');
    log.error(new Error('POST /x?access_token=hush&a=1 failed'));
    log.error({ err: Object.assign(new Error('no'), { password: 'hush' }) });
    log.info({ body: JSON.stringify({ access_token: 'hu"sh hush', domain: 'a.example' }) });
    log.info({ body: JSON.stringify(JSON.stringify({ token: 'hush', domain: 'a.example' })) });
    log.warn('connecting to postgres://me:hush@db.example/causeway');
    log.warn('connecting to postgres://me:a@hush@db.example/causeway?password=hush');
  });
  assert.equal(lines.length, 8);
  for (const line of lines) {
    assert.doesNotMatch(line, /hush/);
    assert.doesNotThrow(() => JSON.parse(line), line);
  }
  assert.equal(JSON.parse(lines[4] ?? '').body, '{"access_token":"***","domain":"a.example"}');
  assert.match(lines[6] ?? '', /postgres:\/\/me:\*\*\*@db\.example/);
});

test('values that are not secrets are unchanged', () => {
  for (const text of ['{"tokenId":"7","domain":"a.example"}', '{"token":7}', 'http://a.example:80/b@c'])
    assert.equal(hideSecrets(text), text);
});

test('a long text from a client costs little', () => {
  const startedAt = performance.now();
  for (const part of ['a-', 'a.', '\\\\"token\\\\":\\\\"', '"token":"', 'a://b:', 'token'])
    hideSecrets(JSON.stringify({ userAgent: part.repeat(50_000) }));
  assert.ok(performance.now() - startedAt < 5000); // the square of the length would take minutes
});

function linesOf(work: (log: ReturnType<typeof createLogger>) => void): string[] {
  const lines: string[] = [];
  work(createLogger({ level: 'debug', name: 'test', destination: { write: (line) => void lines.push(line) } }));
  return lines;
}

function withoutProcess({ pid: _, hostname: __, ...rest }: Record<string, unknown>): Record<string, unknown> {
  return rest;
}
