/** How a chart is drawn: a pure function of what it shows. */
import uPlot from 'uplot';
import { formatClock, formatDay } from '../lib/format.ts';
import type { Series } from './chart-data.ts';

export interface ChartLook {
  readonly colorOf: (name: `--${string}`) => string;
  readonly width: number;
  /** Colors are read anew when it changes. */
  readonly theme: string;
}

interface Drawn {
  readonly series: readonly Series[];
  readonly zone: string;
  readonly range: readonly [from: number, to: number];
  readonly format: (value: number) => string;
  readonly look: ChartLook;
  readonly isStacked: boolean;
  readonly onZoom: ((from: number, to: number) => void) | undefined;
  /** Index of the data that the pointer is at; `undefined`: it has left. */
  readonly onPoint: (index: number | undefined) => void;
}

const HEIGHT = 220;
const DAY_SECONDS = 86_400;
/** Length of a range whose labels are less than a minute apart. */
const MINUTES_SECONDS = 600;

export function chartOptions({ series, zone, range, format, look, isStacked, onZoom, onPoint }: Drawn): uPlot.Options {
  const hasFills = isStacked || series.length <= MAX_FILLS;
  const axis = {
    stroke: look.colorOf('--text-2'),
    grid: { stroke: look.colorOf('--line'), width: 1 },
    ticks: { show: false },
    font: '12px system-ui',
    gap: 6,
  };
  return {
    width: look.width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { points: { size: 6 }, drag: { x: onZoom !== undefined, y: false, setScale: false } },
    // The last label would be cut.
    padding: [8, 20, 0, 0],
    // Labels stand at whole hours and days of the zone.
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), zone),
    scales: { x: { range: [...range] as [number, number] }, y: { range: (_plot, _low, high) => [0, niceTop(high)] } },
    axes: [
      { ...axis, ...timeAxis(zone, range), size: 28, grid: { show: false } },
      { ...axis, size: 68, incrs: countSteps(format), values: (_plot, at) => at.map(format) },
    ],
    series: [{}, ...series.map((one) => seriesOf(one, { ...look, hasFills }))],
    bands: isStacked ? bandsOf(series) : [],
    hooks: {
      setCursor: [({ cursor }) => onPoint(cursor.idx ?? undefined)],
      setSelect: [
        (plot) => {
          const { left, width } = plot.select;
          if (width > 4) onZoom?.(Math.floor(plot.posToVal(left, 'x')), Math.ceil(plot.posToVal(left + width, 'x')));
        },
      ],
    },
  };
}

/** Fills of more that lie over each other would hide what is below. */
const MAX_FILLS = 3;

type DrawnAs = ChartLook & { readonly hasFills: boolean };

/** Steps: a count of a minute holds for the whole minute. */
function seriesOf({ name, color, isDashed = false, isDotted = false }: Series, look: DrawnAs): uPlot.Series {
  const { colorOf, hasFills } = look;
  const stroke = colorOf(`--${color}`);
  const paths = uPlot.paths.stepped?.({ align: 1 });
  return {
    label: name,
    stroke,
    ...(isDashed && { dash: [4, 4] }),
    ...(isDotted && !isDashed && { dash: [2, 2] }),
    ...(hasFills && !isDashed && { fill: `color-mix(in oklch, ${stroke} 10%, transparent)` }),
    width: isDashed ? 1.25 : 1.75,
    points: { show: false },
    ...(paths && { paths }),
  };
}

/** Each series is filled down to the one that it stands on, so that fills do not mix. */
function bandsOf(series: readonly Series[]): uPlot.Band[] {
  const stacked = series.filter(({ isDashed = false }) => !isDashed);
  return stacked.slice(1).map((_, n) => ({ series: [n + 1, n + 2] }));
}

/** The top of the axis: at least 1, so that a chart of nothing has one. */
function niceTop(high: number | null): number {
  return Math.max(1, (high ?? 0) * 1.05);
}

/** Distances of the labels of days: a distance below a day would name one twice. */
const DAYS = [1, 2, 3, 5, 7, 10, 15, 30, 60, 90, 180] as const;

/** Distances of the labels of values: those that the texts tell apart, such as whole numbers where there are no parts. */
export function countSteps(format: (value: number) => string): number[] {
  const steps = Array.from({ length: 20 }, (_, power) => [1, 2, 5].map((n) => n * 10 ** (power - 4)));
  return steps.flat().filter((step) => new Set([0, step, 2 * step].map(format)).size === 3);
}

interface TimeAxis {
  values(plot: unknown, at: readonly number[]): string[];
  /** Distances that labels may have, seconds; absent: uPlot's. */
  readonly incrs?: number[];
  /** The least distance of labels, pixels; absent: uPlot's. */
  readonly space?: number;
}

/** Labels of the times of a range. */
export function timeAxis(zone: string, [from, to]: Drawn['range']): TimeAxis {
  const place = { locale: 'en', zone } as const;
  const dayOf = (seconds: number) => formatDay(seconds * 1000, place).slice(5);
  const clockOf = (seconds: number) => formatClock(seconds * 1000, place).slice(0, to - from > MINUTES_SECONDS ? 5 : 8);
  const labelled = (labelOf: (seconds: number) => string): TimeAxis => ({ values: (_plot, at) => at.map(labelOf) });
  if (to - from > 3 * DAY_SECONDS) return { ...labelled(dayOf), incrs: DAYS.map((days) => days * DAY_SECONDS) };
  if (to - from > DAY_SECONDS) return { ...labelled((at) => `${dayOf(at)} ${clockOf(at)}`), space: 90 };
  return labelled(clockOf);
}
