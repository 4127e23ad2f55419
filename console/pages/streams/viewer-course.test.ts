import assert from 'node:assert/strict';
import { test } from 'node:test';
import { viewerCourse } from './viewer-course.ts';

test('every step of the range is there, those without a stream on air without a value', () => {
  const one = { time: 7200, flv: 1, websocket: 2, rtmp: 3, hls: 4 };
  const other = { ...one, time: 14_400, hls: 0 };
  const course = viewerCourse({ interval: 'hour', list: [one, other] }, { from: 7260, to: 16_000 });
  assert.deepEqual(course, {
    times: [7200, 10_800, 14_400],
    values: { rtmp: [3, null, 3], websocket: [2, null, 2], flv: [1, null, 1], hls: [4, null, 0] },
  });
  assert.equal(viewerCourse({ interval: 'minute', list: [] }, { from: 0, to: 3600 }).times.length, 60);
});
