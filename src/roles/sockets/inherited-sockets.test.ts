import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readInheritedSockets } from './inherited-sockets.ts';
import type { ListenerName } from './listeners.ts';

const WANTED = new Map<ListenerName, number>([
  ['http', 8003],
  ['https', 8004],
]);
/** Descriptor 5 is not a listening socket. */
const addressOf = (descriptor: number) => (descriptor === 5 ? undefined : { host: '::', port: 8000 + descriptor });

test('sockets are given to the listeners that they are named after', () => {
  const read = (descriptors: string, names: string) => {
    const result = readInheritedSockets({ descriptors, names }, { wanted: WANTED, addressOf });
    return result.kind === 'sockets' ? Object.fromEntries(result.listeners) : assert.fail(result.problems.join());
  };
  assert.deepEqual(read('0', ''), {});
  assert.deepEqual(read('2', 'https:http'), {
    https: { address: { host: '::', port: 8003 }, descriptors: [3] },
    http: { address: { host: '::', port: 8004 }, descriptors: [4] },
  });
  assert.deepEqual(read('2', 'http:http'), { http: { address: { host: '::', port: 8003 }, descriptors: [3, 4] } });
});

test('sockets of a unit that does not name them are given to the listeners with their ports', () => {
  const read = (names: string) => {
    const result = readInheritedSockets({ descriptors: '2', names }, { wanted: WANTED, addressOf });
    return result.kind === 'sockets' ? [...result.listeners.keys()] : result.problems;
  };
  assert.deepEqual(read('causeway.socket:causeway.socket'), ['http', 'https']);
  assert.deepEqual(read('https:causeway.socket'), ['https']);
});

test('sockets that do not fit are refused by name', () => {
  const rows: [descriptors: string, names: string, problem: RegExp][] = [
    ['some', '', /LISTEN_FDS: expected a number of sockets; found "some"/],
    ['2', 'http', /LISTEN_FDNAMES: expected 2 names, as many as LISTEN_FDS says; found 1/],
    ['1', '', /expected 1 names.*found 0/],
    ['0', 'http', /expected 0 names.*found 1/],
    ['1', 'smtp', /socket 3 is named "smtp"; expected http, https, tier, rtmp, rtmps/],
    ['1', 'rtmp', /socket 3 is named rtmp, a listener that is off/],
    [
      '4',
      'http:http:http:causeway.socket',
      /socket 6 \(causeway\.socket\) listens on \[::\]:8006; expected the port of a listener of the settings/,
    ],
    ['3', 'http:http:causeway.socket', /socket 5 is named "causeway\.socket"; expected http/],
    ['3', 'http:http:https', /socket 5 \(https\) is not a listening TCP socket/],
  ];
  for (const [descriptors, names, problem] of rows) {
    const result = readInheritedSockets({ descriptors, names }, { wanted: WANTED, addressOf });
    assert.equal(result.kind, 'refused');
    assert.match(result.kind === 'refused' ? result.problems.join('\n') : '', problem);
  }
});
