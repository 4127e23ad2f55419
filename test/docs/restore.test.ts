/** The restore in docs/operations.md, run as it is written. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createClient } from '#client/client.ts';
import { COMMAND, startService, surroundings } from '../support/process/service.ts';
import { temporaryFolder } from '../support/temporary.ts';

const OPERATIONS = readFileSync(join(import.meta.dirname, '../../docs/operations.md'), 'utf8');

test('the restore in docs/operations.md works as it is written, and nothing is missing', async (t) => {
  const folder = temporaryFolder(t);
  const service = await startService(t, { settings: { CAUSEWAY_ROLES: 'control' } });
  const client = createClient({ baseUrl: service.controlUrl, accessToken: service.token });
  await client.call('domain.add', { domain: 'www.example.com', cdn_type: '1', data: 'origin.example.net' });
  mkdirSync(join(folder, 'safe'));
  copyFileSync(join(service.dataDir, 'keyring'), join(folder, 'safe/keyring'));
  const [, block = ''] = /^#### Scheduled backups$.*?^```sh\n(.*?)^```$/ms.exec(OPERATIONS) ?? [];
  assert.ok(block.split('\n').length > 6);
  const own = { '/srv/restored': 'restored', '/safe': 'safe', '/var/backups/causeway': 'backups' };
  const script = Object.entries(own).reduce((text, [path, name]) => text.replaceAll(path, join(folder, name)), block);
  const define = `set -eu\ncauseway() { '${process.execPath}' '${COMMAND}' "$@"; }\n`;
  const { status, stdout, stderr } = spawnSync('bash', ['-c', define + script], {
    cwd: folder,
    encoding: 'utf8',
    env: {
      ...surroundings(),
      CAUSEWAY_DATA_DIR: service.dataDir,
      CAUSEWAY_BACKUP_DIRECTORY: join(folder, 'backups'),
      CAUSEWAY_ROLES: 'control',
    },
  });
  assert.equal(status, 0, stdout + stderr);
  for (const [, expected = ''] of block.matchAll(/^# → (.*)$/gm))
    assert.ok(stdout.includes(expected), `${expected}\n${stdout}`);
  await service.stop();
  const restored = await startService(t, {
    dataDir: join(folder, 'restored'),
    settings: { CAUSEWAY_ROLES: 'control' },
  });
  const again = createClient({ baseUrl: restored.controlUrl, accessToken: service.token });
  assert.equal((await again.call('domain.get', { domain_id: '1' })).domain_name, 'www.example.com');
});
