import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Viewers } from './viewers.ts';

const NAME = { domainId: 7, app: 'live', stream: 'a' };

function report(worker: string, flv: number, websocket: number, hls: readonly string[]): string {
  return JSON.stringify({ worker, streams: [{ domain: 7, app: 'live', stream: 'a', flv, websocket, hls }] });
}

test('viewers are summed over workers; one that asks several of them for HLS counts once', () => {
  const viewers = new Viewers();
  viewers.take(report('edge-worker-1', 2, 1, ['x', 'y']), 0);
  viewers.take(report('edge-worker-2', 1, 0, ['y', 'z']), 0);
  assert.deepEqual(viewers.of(NAME), { flv: 3, websocket: 1, hls: 3 });
  assert.deepEqual(viewers.of({ ...NAME, stream: 'b' }), { flv: 0, websocket: 0, hls: 0 });
  viewers.take(report('edge-worker-1', 5, 0, []), 1);
  assert.deepEqual(viewers.of(NAME), { flv: 6, websocket: 0, hls: 2 });
});

test('a worker that is silent for 15 s is forgotten', () => {
  const viewers = new Viewers();
  viewers.take(report('edge-worker-1', 1, 0, []), 0);
  viewers.sweep(14_999);
  assert.equal(viewers.of(NAME).flv, 1);
  viewers.sweep(15_000);
  assert.equal(viewers.of(NAME).flv, 0);
});

test('an invalid report is refused, and invalid counts are 0', () => {
  const viewers = new Viewers();
  for (const text of ['', '[]', 'null', '{"worker":1,"streams":[]}', '{"worker":"w"}'])
    assert.equal(viewers.take(text, 0), false);
  assert.equal(
    viewers.take('{"worker":"w","streams":[null,{"domain":7,"app":"live","stream":"a","flv":-1}]}', 0),
    true,
  );
  assert.deepEqual(viewers.of(NAME), { flv: 0, websocket: 0, hls: 0 });
});
