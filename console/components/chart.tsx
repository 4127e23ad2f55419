/** Counts over time as steps: canvas for the eye, a table for screen readers. Loaded when one is shown. */
import { useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { formatTime } from '../lib/format.ts';
import { usePreference, useTheme } from '../services.tsx';
import styles from './chart.module.css';
import { chartData, type Series, stepAt } from './chart-data.ts';
import { type ChartLook, chartOptions } from './chart-options.ts';

export interface ChartProps {
  readonly label: string;
  /** Unix seconds. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly zone: string;
  /** Range that is shown, Unix seconds, whether there are data or not. */
  readonly range: readonly [from: number, to: number];
  readonly format: (value: number) => string;
  /** The first series stands on the second, and so on. */
  readonly isStacked?: boolean;
  /** A part was marked: Unix seconds. */
  readonly onZoom?: ((from: number, to: number) => void) | undefined;
}

export function Chart({ label, times, series, zone, range, format, isStacked = false, onZoom }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const theme = useTheme();
  const [pointed, setPointed] = useState<number>();
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const look: ChartLook = { colorOf: (name) => readColor(element, name), width: element.clientWidth, theme };
    const options = chartOptions({ series, zone, range, format, look, isStacked, onZoom, onPoint: setPointed });
    const plot = new uPlot(options, chartData(times, series, isStacked), element);
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: options.height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [times, series, zone, range, format, isStacked, onZoom, theme]);
  const at = pointed === undefined || times.length === 0 ? undefined : stepAt(pointed, times.length);
  return (
    <figure>
      <Legend {...{ times, series, zone, format, at }} />
      <div ref={box} className={styles['plot']} aria-hidden="true" />
      <figcaption className="unseen">
        <table>
          <caption>{label}</caption>
          <tbody>
            {series.map(({ name, total }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{total}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </figcaption>
    </figure>
  );
}

interface LegendProps extends Pick<ChartProps, 'times' | 'series' | 'zone' | 'format'> {
  /** The step that is pointed at. */
  readonly at: number | undefined;
}

function markOf({ color, isDashed, isDotted }: Series) {
  return { 'data-color': color, 'data-dashed': isDashed || undefined, 'data-dotted': isDotted || undefined };
}

/** The totals, or the values of the step that is pointed at. */
function Legend({ times, series, zone, format, at }: LegendProps) {
  const locale = usePreference('locale');
  const valueAt = ({ values }: Series, step: number) => {
    const value = values[step] ?? null;
    return value === null ? '—' : format(value);
  };
  return (
    <div className={styles['legend']} aria-hidden="true">
      {series.map((one) => (
        <span key={one.name} className={styles['name']} {...markOf(one)}>
          {one.name} <span className="dim">{at === undefined ? one.total : valueAt(one, at)}</span>
        </span>
      ))}
      {at !== undefined && <span className="dim">{formatTime((times[at] ?? 0) * 1000, { zone, locale })}</span>}
    </div>
  );
}

/** A canvas knows no custom properties, so the element is asked what one comes to. */
function readColor(element: HTMLElement, name: string): string {
  element.style.color = `var(${name})`;
  const color = getComputedStyle(element).color;
  element.style.color = '';
  return color;
}
