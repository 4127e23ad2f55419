import assert from 'node:assert/strict';
import { describe, it, mock, type TestContext } from 'node:test';
import { createRemains } from './remains.ts';

describe('memory of closed connections', () => {
  it('memory of closed connections is collected once, after a second of other work', (t) => {
    const { close, pass, collect } = start(t);
    close(1_000);
    pass({ cpuMs: 999 });
    assert.equal(collect.mock.callCount(), 0);
    pass({ cpuMs: 1 });
    assert.equal(collect.mock.callCount(), 1);
    for (let i = 0; i < 5; i++) pass({ cpuMs: 1_000 });
    assert.equal(collect.mock.callCount(), 1);
    close(1_000);
    pass({ cpuMs: 1_000 });
    assert.equal(collect.mock.callCount(), 2);
  });

  it('memory of closed connections stays while it is little, while the process is idle, and during handshakes', (t) => {
    const { close, pass, collect } = start(t);
    close(999);
    for (let i = 0; i < 5; i++) pass({ cpuMs: 1_000 });
    close(1);
    for (let i = 0; i < 5; i++) pass({ cpuMs: 0 });
    for (let i = 0; i < 5; i++) {
      close(100);
      pass({ cpuMs: 1_000 });
    }
    assert.equal(collect.mock.callCount(), 0);
    close(99);
    pass({ cpuMs: 1_000 });
    assert.equal(collect.mock.callCount(), 1);
  });

  it('memory of closed connections is left to the engine if it cannot be collected here', (t) => {
    const { close, pass } = start(t, false);
    close(2_000);
    pass({ cpuMs: 2_000 });
  });
});

function start(t: TestContext, canCollect = true) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  let cpuMs = 0;
  const collect = mock.fn();
  const remains = createRemains({ collect: canCollect ? collect : undefined, cpuMs: () => cpuMs });
  return {
    collect,
    close: (count: number) => {
      for (let i = 0; i < count; i++) remains.noteClosed();
    },
    /** Advances by one second in which the process used this much processor time. */
    pass: (worked: { readonly cpuMs: number }) => {
      cpuMs += worked.cpuMs;
      t.mock.timers.tick(1_000);
    },
  };
}
