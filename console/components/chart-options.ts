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
    scales: { x: { range: [...range] as [number, number] }, y: { range: (_plot, _low, high) => [0, niceTop(high)] } },
    axes: [
      { ...axis, size: 28, grid: { show: false }, values: (_plot, at) => at.map((time) => labelOf(time, zone, range)) },
      { ...axis, size: 68, values: (_plot, at) => at.map(format) },
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

function labelOf(seconds: number, zone: string, [from, to]: readonly [number, number]): string {
  const place = { locale: 'en', zone } as const;
  if (to - from > 3 * DAY_SECONDS) return formatDay(seconds * 1000, place).slice(5);
  const clock = formatClock(seconds * 1000, place).slice(0, to - from > MINUTES_SECONDS ? 5 : 8);
  return to - from > DAY_SECONDS ? `${formatDay(seconds * 1000, place).slice(5)} ${clock}` : clock;
}
