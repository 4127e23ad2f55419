/** A bar of how far a task has come, with a word. */
import { Badge } from '../../components/badge.tsx';
import { useText } from '../../text/catalogue.ts';
import { purgeText } from '../../text/purge.ts';
import styles from './progress.module.css';
import type { Counts, Task } from './task-state.ts';

const TONES = { running: 'busy', done: 'ok', failed: 'bad', waiting: 'busy' } as const;

export function Progress({ state, counts }: { readonly state: Task['state']; readonly counts: Counts }) {
  const t = useText(purgeText);
  const { waiting, done, failed } = counts;
  const past = done + failed;
  const all = past + waiting;
  return (
    <span className={styles['progress']}>
      <State state={state} />
      {state === 'running' && (
        <>
          <meter className={styles['bar']} min={0} max={Math.max(all, 1)} value={past} aria-hidden="true" />
          <span className="dim">{t.itemsOf(past, all)}</span>
        </>
      )}
      {failed > 0 && <span className="dim">{t.failedOf(failed)}</span>}
    </span>
  );
}

export function State({ state }: { readonly state: keyof typeof TONES }) {
  const t = useText(purgeText);
  return <Badge tone={TONES[state]}>{t.states[state]}</Badge>;
}
