/** People on both engines: what a search finds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPerson, findPersons } from '#db/tables/people/persons.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { openTestDatabase } from '../support/feed/feed.ts';

describeOnBothEngines('people', (newDatabase) => {
  test('a search takes every character as it is, and either case', async (t) => {
    await using db = await openTestDatabase(await newDatabase(t));
    const people = [
      ['li_wei@example.com', 'Li Wei'],
      ['lixwei@example.com', '100% Han!'],
    ] as const;
    await db.transaction(async (trx) => {
      for (const [email, name] of people) await createPerson(trx, { email, name, now: 1 });
    });
    const find = async (text: string) => {
      const { total, persons } = await findPersons(db.query, { text, limit: 10, offset: 0 });
      assert.equal(total, persons.length, text);
      return persons.map(({ name }) => name);
    };
    assert.deepEqual(await find('i_w'), ['Li Wei']);
    assert.deepEqual(await find('0% h'), ['100% Han!']);
    assert.deepEqual(await find('HAN!'), ['100% Han!']);
    assert.deepEqual(await find('LIXWEI'), ['100% Han!']);
    assert.deepEqual(await find('\\'), []);
    assert.deepEqual(await find(''), ['Li Wei', '100% Han!']);
  });
});
