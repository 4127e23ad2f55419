/** The course of a figure, without axes. Says nothing to screen readers: the figure stands beside it. */
import styles from './sparkline.module.css';
import { stepsOf } from './steps-of.ts';

const WIDTH = 72;
const HEIGHT = 22;

export function Sparkline({ values }: { readonly values: readonly number[] }) {
  return (
    <svg className={styles['line']} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <path d={stepsOf(values, WIDTH, HEIGHT)} />
    </svg>
  );
}
