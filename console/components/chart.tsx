/** Counts over time as steps: canvas for the eye, a table for screen readers. Loaded when one is shown. */
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useTheme } from '../services.tsx';
import styles from './chart.module.css';
import { type ChartColor, type ChartLook, chartOptions } from './chart-options.ts';

export interface Series {
  readonly name: string;
  readonly values: readonly number[];
  readonly color: ChartColor;
  /** Sum, or whatever says all of it in one text. */
  readonly total: string;
}

export interface ChartProps {
  readonly label: string;
  /** Unix seconds. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly zone: string;
  /** Range that is shown, Unix seconds, whether there are data or not. */
  readonly range: readonly [from: number, to: number];
  readonly format: (value: number) => string;
  /** A part was marked: Unix seconds. */
  readonly onZoom?: ((from: number, to: number) => void) | undefined;
}

export function Chart({ label, times, series, zone, range, format, onZoom }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const theme = useTheme();
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const look: ChartLook = { colorOf: (name) => readColor(element, name), width: element.clientWidth, theme };
    const options = chartOptions({ series, zone, range, format, look, onZoom });
    const plot = new uPlot(options, [[...times], ...series.map(({ values }) => [...values])], element);
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: options.height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [times, series, zone, range, format, onZoom, theme]);
  return (
    <figure>
      <div className={styles['legend']} aria-hidden="true">
        {series.map(({ name, color, total }) => (
          <span key={name} className={styles['name']} data-color={color}>
            {name} <span className="dim">{total}</span>
          </span>
        ))}
      </div>
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

/** A canvas knows no custom properties, so the element is asked what one comes to. */
function readColor(element: HTMLElement, name: string): string {
  element.style.color = `var(${name})`;
  const color = getComputedStyle(element).color;
  element.style.color = '';
  return color;
}
