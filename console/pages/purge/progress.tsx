/** A bar of how far a task has come, with a word. */
import { Badge } from '../../components/badge.tsx';
import { useText } from '../../text/catalogue.ts';
import { purgeText } from '../../text/purge.ts';
import styles from './progress.module.css';
import { stepsOf, type Task } from './task-state.ts';

const TONES = { running: 'busy', done: 'ok', failed: 'bad', waiting: 'busy' } as const;

export function Progress({ task: { state, items } }: { readonly task: Task }) {
  const t = useText(purgeText);
  const { past, all } = stepsOf(items);
  return (
    <span className={styles['progress']}>
      <State state={state} />
      {state === 'running' && (
        <>
          <meter className={styles['bar']} min={0} max={Math.max(all, 1)} value={past} aria-hidden="true" />
          <span className="dim">{t.itemsOf(past, all)}</span>
        </>
      )}
    </span>
  );
}

export function State({ state }: { readonly state: keyof typeof TONES }) {
  const t = useText(purgeText);
  return <Badge tone={TONES[state]}>{t.states[state]}</Badge>;
}
