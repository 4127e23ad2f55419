/** Origins that edges cannot reach: their owner is told where he sets them, where he reads them, and by the edge itself. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApi } from '../support/api/api.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { fetchFrom } from '../support/edge/edge.ts';
import { eventually } from '../support/eventually.ts';
import { runCommand, startService } from '../support/process/service.ts';

describeOnBothEngines('warnings about origins', (newDatabase) => {
  test('warnings about origins are in the answers that set and show them, for their owner only', async (t) => {
    const api = await startTestApi(t, newDatabase, { permitsOrigin: (address) => !address.startsWith('10.') });
    const { accessToken } = await api.join('customer', ['cdn']);
    const call = async (name: Parameters<typeof api.call>[0], request: Record<string, unknown>) =>
      (await api.call(name, accessToken, request)).body;
    const add = (domain: string, data: string) => call('domain.add', { domain, cdn_type: '1', data });
    const text = /origin 10\.0\.0\.1:80 is not a public address, .* origin-allow$/;

    assert.deepEqual((await add('a.example.com', '192.0.2.1'))['data'], { domain_id: '1' }, 'as documented');
    const added = (await add('b.example.com', '10.0.0.1'))['data'] as { warnings: { code: string; text: string }[] };
    assert.deepEqual(
      added.warnings.map(({ code }) => code),
      ['originPrivate'],
    );
    assert.match(added.warnings[0]?.text ?? '', text);

    const kept = await call('domain.updateOrigin', { domain_id: '1', data: ['192.0.2.2'] });
    assert.deepEqual([kept['data'], kept['info']], [true, 'success']);
    const changed = await call('domain.updateOrigin', { domain_id: '1', data: ['10.0.0.1'] });
    assert.deepEqual([changed['status'], changed['data']], [1, true]);
    assert.match(String(changed['info']), /^success; /);
    assert.match(String(changed['info']), text);

    await api.acknowledge('e1', undefined, [], [{ key: '10.0.0.1:80', state: 'down' }]);
    const shown = (await call('domain.get', { domain_id: '1' }))['data'] as typeof added;
    assert.deepEqual(shown.warnings, [
      { code: 'originDown', text: 'origin 10.0.0.1:80 does not answer the probes of edge e1' },
    ]);
  });
});

test('a service reports that a private origin is refused: in domain show, in explain, in its log', async (t) => {
  const service = await startService(t);
  const run = async (...args: string[]) => (await runCommand(t, [...args, '--data-dir', service.dataDir])).stdout;
  assert.match(
    await run('domain', 'add', 'www.example.com', '10.0.0.1', '--wait'),
    /^warning +源站 10\.0\.0\.1:80|^warning +origin 10/m,
  );
  assert.match(
    await run('explain', 'http://www.example.com/'),
    /^origins +10\.0\.0\.1:80 \(forbidden: .* origin-allow\)$/m,
  );
  const port = Number(new URL(service.edgeUrl).port);
  await eventually('the log names it', async () => {
    const { status, headers } = await fetchFrom(port, '/', { host: 'www.example.com' });
    assert.deepEqual([status, headers['x-cache']], [502, 'ERROR originForbidden']);
    return /"origin":"10\.0\.0\.1:80","change":"forbidden"/.test(service.process.stderr());
  });
  await eventually('its owner is shown what the edge found', async () =>
    /^warning .*edge local refuses to connect/m.test(await run('domain', 'show', 'www.example.com')),
  );
});
