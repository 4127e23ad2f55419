/** The one way in which something that loads is shown: skeleton, failure, emptiness, stale data, or the data. */
import type { ReactNode } from 'react';
import { useText } from '../text/catalogue.ts';
import { commonText } from '../text/common.ts';
import { Button } from './button.tsx';
import { CopyButton } from './copy.tsx';
import { Icon } from './icon.tsx';
import type { IconName } from './icons.ts';
import type { Load, Problem } from './load.ts';
import styles from './loaded.module.css';
import { Time } from './time.tsx';

interface LoadedProps<T> {
  readonly load: Load<T>;
  /** Lines of the skeleton, each as high as a row of a table. */
  readonly lines?: number;
  /** Shown instead of the data if `isEmpty` says that there are none. */
  readonly empty?: ReactNode;
  readonly isEmpty?: (data: T) => boolean;
  readonly children: (data: T) => ReactNode;
}

export function Loaded<T>({ load, lines = 3, empty, isEmpty = () => false, children }: LoadedProps<T>) {
  switch (load.kind) {
    case 'loading':
      return <Skeleton lines={lines} />;
    case 'failed':
      return <Failure problem={load.problem} onRetry={load.onRetry} />;
    case 'ready':
      return (
        <>
          {load.staleSince !== undefined && <StaleNote since={load.staleSince} />}
          {isEmpty(load.data) ? empty : children(load.data)}
        </>
      );
  }
}

/** Appears after 200 ms: what is there sooner does not flicker. */
export function Skeleton({ lines }: { readonly lines: number }) {
  const t = useText(commonText);
  return (
    <div className={styles['skeleton']} role="status" aria-label={t.loading}>
      {Array.from({ length: lines }, (_, n) => (
        // Lines are alike, and none is ever moved.
        // biome-ignore lint/suspicious/noArrayIndexKey: see above
        <span key={n} />
      ))}
    </div>
  );
}

interface EmptyProps {
  readonly icon: IconName;
  readonly title: string;
  readonly text?: string;
  readonly action?: ReactNode;
}

/** What would be here, and the one thing to do about it. */
export function Empty({ icon, title, text, action }: EmptyProps) {
  return (
    <div className={styles['empty']}>
      <Icon name={icon} />
      <p>
        <em>{title}</em>
      </p>
      {text && <p className="help">{text}</p>}
      {action}
    </div>
  );
}

const FAILURE_ICONS = {
  error: 'warning',
  forbidden: 'security',
  offline: 'connectors',
  missing: 'search',
} as const satisfies Readonly<Record<Problem['kind'], IconName>>;

function Failure({ problem, onRetry }: { readonly problem: Problem; readonly onRetry: () => void }) {
  const t = useText(commonText);
  return (
    <div className={styles['empty']} role="alert">
      <Icon name={FAILURE_ICONS[problem.kind]} />
      <p>
        <em>{t.failures[problem.kind]}</em>
      </p>
      <p className="help wrap">{problem.text}</p>
      {problem.requestId !== undefined && (
        <p className="help">
          {t.requestId} <span className="mono">{problem.requestId}</span> <CopyButton text={problem.requestId} />
        </p>
      )}
      {problem.kind !== 'forbidden' && problem.kind !== 'missing' && <Button onClick={onRetry}>{t.tryAgain}</Button>}
    </div>
  );
}

function StaleNote({ since }: { readonly since: number }) {
  const t = useText(commonText);
  return (
    <p className={styles['stale']} role="status">
      <Icon name="warning" />
      {t.asOf} <Time at={since} isClock />
    </p>
  );
}
