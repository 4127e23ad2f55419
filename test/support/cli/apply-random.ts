/** Random domains as files: applied, exported, and applied again. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '../process/service.ts';
import { type Cleanup, temporaryFolder } from '../temporary.ts';
import { startControl } from './control.ts';
import { randomFile } from './random-domain.ts';

/** Each of `domains` gets two random configurations, one after the other. */
export async function applyRandom(t: Cleanup, domains: number): Promise<void> {
  const { dataDir } = await startControl(t, {
    CAUSEWAY_TOKEN_RATE_PER_SECOND: '100000',
    CAUSEWAY_TOKEN_RATE_BURST: '100000',
  });
  const folder = temporaryFolder(t);
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCommand(t, [...args, '--data-dir', dataDir]);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const exported = async (name: string) => {
    await run('domain', 'export', '--all', join(folder, name));
    return new Map(
      readdirSync(join(folder, name)).map((file) => [file, readFileSync(join(folder, name, file), 'utf8')]),
    );
  };
  for (const round of [1, 2]) {
    const wanted = join(folder, `wanted-${round}`);
    mkdirSync(wanted);
    for (let n = 0; n < domains; n++) {
      const name = `d${n}.example`;
      // The type of a domain cannot be changed.
      const file = randomFile(name, n + round * 1_000_000).replace(
        /^type = .*/m,
        `type = "${n % 2 === 0 ? 'static' : 'live'}"`,
      );
      writeFileSync(join(wanted, `${name}.toml`), n % 2 === 0 ? file.replace(/\n\[recording\][^[]*/, '\n') : file);
    }
    await run('apply', wanted);
    const first = await exported(`first-${round}`);
    assert.equal(first.size, domains);
    const results = JSON.parse(await run('apply', join(folder, `first-${round}`), '--json'));
    assert.deepEqual(
      results.filter(({ outcome }: { outcome: string }) => outcome !== 'unchanged'),
      [],
    );
    assert.deepEqual(await exported(`second-${round}`), first);
  }
  const { list } = JSON.parse(await run('domain', 'revisions', 'd0.example', '--json'));
  assert.ok(list.length <= 2, 'applying what is there makes no revision');
}
