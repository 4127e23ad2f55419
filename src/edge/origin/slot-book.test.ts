import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createSlotBook, type SlotClaim, type SlotUse } from './slot-book.ts';

const OPTIONS = { max: 8, maxWaiting: 100, slowMs: 1_000 };

/** Asks `count` times; returns the claims grouped by the answer. */
function askAll(book: ReturnType<typeof createSlotBook>, client: string, count: number, use: SlotUse = 'read') {
  const claims = Array.from({ length: count }, (): SlotClaim => ({ client, use }));
  return Map.groupBy(claims, (claim) => book.ask(claim));
}

const sizes = (got: ReturnType<typeof askAll>) =>
  Object.fromEntries([...got].map(([answer, claims]) => [answer, claims.length]));

describe('shares of slots', () => {
  test('a client alone has half of the slots, and the next client has one at once', () => {
    const book = createSlotBook(OPTIONS);
    assert.deepEqual(sizes(askAll(book, 'a', 10)), { taken: 4, waiting: 6 });
    assert.deepEqual(sizes(askAll(book, 'b', 10)), { taken: 2, waiting: 8 });
    assert.deepEqual(sizes(askAll(book, 'c', 10)), { taken: 1, waiting: 9 });
  });

  test('clients that each take all they get leave a slot of each kind to the next', () => {
    for (const [use, count] of [
      ['read', 7],
      ['write', 7],
      ['stream', 5],
    ] as const) {
      const book = createSlotBook({ ...OPTIONS, max: 256, maxWaiting: 10_000 });
      for (let i = 0; i < count; i++)
        assert.ok((askAll(book, `client ${i}`, 256, use).get('taken')?.length ?? 0) > 0, use);
      assert.deepEqual(sizes(askAll(book, 'new', 1, use)), { taken: 1 }, use);
    }
  });

  test('one kind of requests leaves slots to the other, however many clients there are', () => {
    for (const [first, second] of [
      ['read', 'write'],
      ['write', 'read'],
    ] as const) {
      const book = createSlotBook(OPTIONS);
      const clients = Array.from({ length: 20 }, (_, i) => sizes(askAll(book, `client ${i}`, 1, first)));
      assert.equal(clients.filter(({ taken }) => taken === 1).length, 7);
      assert.deepEqual(sizes(askAll(book, 'new', 1, second)), { taken: 1 });
    }
  });

  test('one client alone does not fill the queue either', () => {
    const book = createSlotBook({ ...OPTIONS, maxWaiting: 10 });
    assert.deepEqual(sizes(askAll(book, 'a', 20)), { taken: 4, waiting: 5, originShare: 11 });
    assert.deepEqual(sizes(askAll(book, 'b', 9)), { taken: 2, waiting: 3, originShare: 4 });
  });

  test('the reason tells a full origin from a full share', () => {
    const book = createSlotBook({ ...OPTIONS, maxWaiting: 0 });
    assert.deepEqual(sizes(askAll(book, 'a', 5)), { taken: 4, originShare: 1 });
    for (let i = 0; i < 8; i++) askAll(book, `client ${i}`, 1, 'write');
    assert.deepEqual(sizes(askAll(book, 'new', 1, 'write')), { originBusy: 1 });
    assert.deepEqual(sizes(askAll(book, 'new', 1, 'stream')), { originBusy: 1 });
  });

  test('the reason tells a full origin from a full share of a kind of requests', () => {
    for (const [use, reason] of [
      ['read', 'originShare'],
      ['write', 'originShare'],
      ['stream', 'buffersFull'],
    ] as const) {
      const book = createSlotBook({ ...OPTIONS, maxWaiting: 0 });
      for (let i = 0; i < 8; i++) askAll(book, `client ${i}`, 1, use);
      assert.deepEqual(sizes(askAll(book, 'new', 1, use)), { [reason]: 1 });
    }
  });
});

describe('turns for slots', () => {
  test('waiting requests have their turn by client, each in its own order', () => {
    const book = createSlotBook({ ...OPTIONS, max: 1 });
    const [holder] = askAll(book, 'z', 1).get('taken') ?? [];
    const named = (client: string) => ({ client, use: 'read' as const });
    const queue = ['a', 'a', 'a', 'b', 'c', 'c'].map(named);
    for (const claim of queue) assert.equal(book.ask(claim), 'waiting');
    const order: SlotClaim[] = [];
    for (let one = holder; one !== undefined; ) {
      const [next]: readonly SlotClaim[] = book.free(one);
      if (next !== undefined) order.push(next);
      one = next;
    }
    assert.deepEqual(order.map(({ client }) => client).join(''), 'abcaca');
    assert.deepEqual(
      order.filter(({ client }) => client === 'a'),
      queue.slice(0, 3),
    );
    assert.deepEqual([book.taken, book.waiting], [0, 0]);
  });

  test('a request that leaves the queue is not served, and its slot goes to the next', () => {
    const book = createSlotBook({ ...OPTIONS, max: 1 });
    const [holder] = askAll(book, 'z', 1).get('taken') ?? [];
    const [first, second] = [
      { client: 'a', use: 'read' as const },
      { client: 'b', use: 'read' as const },
    ];
    book.ask(first);
    book.ask(second);
    book.leave(first);
    book.leave(first);
    assert.ok(holder !== undefined);
    assert.deepEqual(book.free(holder), [second]);
  });

  test('a client that has its share is skipped, and served when others have given slots back', () => {
    const book = createSlotBook({ ...OPTIONS, max: 4 });
    const a = askAll(book, 'a', 3);
    assert.deepEqual(sizes(a), { taken: 2, waiting: 1 });
    const [b] = askAll(book, 'b', 1).get('taken') ?? [];
    assert.ok(b !== undefined);
    assert.deepEqual(book.free(b), []);
    const [one] = a.get('taken') ?? [];
    assert.ok(one !== undefined);
    assert.deepEqual(book.free(one), a.get('waiting'));
  });
});

describe('slow clients', () => {
  /** Every slot is held by a different client, for which the origin has waited since 0. */
  function allSlow() {
    const book = createSlotBook({ ...OPTIONS, max: 8 });
    const held: SlotClaim[] = [];
    for (let i = 0; i < 8; i++) {
      const claim: SlotClaim = { client: `slow ${i}`, use: i === 7 ? 'write' : 'read' };
      assert.equal(book.ask(claim), 'taken');
      book.pause(claim, i);
      held.push(claim);
    }
    return { book, held };
  }

  test('slow clients keep their slots while no request waits', () => {
    assert.equal(allSlow().book.findSlow(1_000_000), undefined);
  });

  test('the slowest client gives its slot back when others wait, until half of the slots are left to the slow', () => {
    const { book, held } = allSlow();
    for (let i = 0; i < 10; i++) assert.equal(book.ask({ client: `new ${i}`, use: 'read' }), 'waiting');
    assert.equal(book.findSlow(1_003), undefined); // four of them count as slow by now
    const order: number[] = [];
    for (let slow = book.findSlow(2_000); slow !== undefined; slow = book.findSlow(2_000)) {
      order.push(held.indexOf(slow));
      assert.equal(book.free(slow).length, 1);
    }
    assert.deepEqual(order, [0, 1, 2, 3]);
  });

  test('the client with the most slow slots gives one back first', () => {
    const book = createSlotBook({ ...OPTIONS, max: 16 });
    const one = (client: string): SlotClaim => ({ client, use: 'write' });
    const claims = ['a', 'b', 'c', 'b', 'd', 'e', 'f', 'b', 'g', 'h', 'i', 'j', 'k', 'l'].map(one);
    for (const [i, claim] of claims.entries()) {
      assert.equal(book.ask(claim), 'taken', `${i}`);
      book.pause(claim, i);
    }
    assert.equal(book.ask(one('new')), 'waiting'); // 7/8 of the slots are taken by requests of its kind
    assert.equal(book.findSlow(10_000), claims[1]);
  });

  test('a kind with few slots gives one back, too, when others of this kind wait', () => {
    const book = createSlotBook({ ...OPTIONS, max: 256 });
    const claims = Array.from({ length: 64 }, (_, i): SlotClaim => ({ client: `slow ${i}`, use: 'stream' }));
    const other: SlotClaim = { client: 'slowest', use: 'read' };
    for (const [i, claim] of [other, ...claims].entries()) {
      assert.equal(book.ask(claim), 'taken');
      book.pause(claim, i);
    }
    assert.equal(book.findSlow(10_000), undefined);
    assert.equal(book.ask({ client: 'new', use: 'read' }), 'taken');
    assert.equal(book.findSlow(10_000), undefined);
    assert.equal(book.ask({ client: 'new', use: 'stream' }), 'waiting');
    assert.equal(book.findSlow(10_000), claims[0]);
  });

  test('pauses add up, and time that the origin waited for another reason does not count', () => {
    const { book, held } = allSlow();
    for (const claim of held) book.resume(claim, 400);
    book.ask({ client: 'new', use: 'read' });
    assert.equal(book.findSlow(100_000), undefined);
    for (const claim of held) book.pause(claim, 100_000);
    assert.equal(book.findSlow(100_599), undefined);
    assert.equal(book.findSlow(100_608), held[0]);
  });

  test('no slot is given back for a client that has its own share', () => {
    const book = createSlotBook(OPTIONS);
    for (const client of ['a', 'a', 'a', 'a', 'b']) {
      const claim: SlotClaim = { client, use: 'read' };
      book.ask(claim);
      book.pause(claim, 0);
    }
    assert.equal(book.ask({ client: 'a', use: 'read' }), 'waiting');
    assert.equal(book.findSlow(1_000_000), undefined);
  });
});
