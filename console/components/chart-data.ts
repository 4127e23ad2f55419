/** Values by time as uPlot draws them: steps that last until the next, and areas on top of each other. Pure. */

export type ChartColor = 'accent' | 'warn' | 'bad' | 'chart-4' | 'chart-5' | 'text-2';

export interface Series {
  readonly name: string;
  /** One for each time; null: there is no value, which leaves a gap. */
  readonly values: readonly (number | null)[];
  readonly color: ChartColor;
  /** Sum, or whatever says all of it in one text. */
  readonly total: string;
  /** Belongs to another time or domain. Such series come last, and nothing is stacked on them. */
  readonly isDashed?: boolean;
  /** The color is that of another series, too. */
  readonly isDotted?: boolean;
}

type Values = Pick<Series, 'values' | 'isDashed'>;

/** Unix seconds, and then the values of each series. */
export type ChartData = [times: number[], ...values: (number | null)[][]];

/**
 * The data of a chart whose values hold until the next, the last one as long as the one before it: without an end it would
 * have no width. `isStacked`: each series stands on those after it.
 */
export function chartData(times: readonly number[], series: readonly Values[], isStacked: boolean): ChartData {
  const drawn = (isStacked ? stacked(series) : series).map(({ values }) => withEnd(values));
  const [before = 0, last] = times.length > 1 ? times.slice(-2) : [undefined, times[0]];
  const end = last === undefined ? [] : [times.length > 1 ? 2 * last - before : last + LONE_STEP_SECONDS];
  return [[...times, ...end], ...drawn];
}

/** Width of a value that stands alone. */
const LONE_STEP_SECONDS = 60;

function stacked(series: readonly Values[]): readonly Pick<Series, 'values'>[] {
  return series.map((one, from) => {
    if (one.isDashed) return one;
    const above = series.slice(from).filter(({ isDashed = false }) => !isDashed);
    return {
      values: (above[0]?.values ?? []).map((_value, at) =>
        above.reduce<number | null>((sum, { values }) => addKnown(sum, values[at] ?? null), null),
      ),
    };
  });
}

function addKnown(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : a + b;
}

function withEnd(values: readonly (number | null)[]): (number | null)[] {
  return values.length === 0 ? [] : [...values, values.at(-1) ?? null];
}

/** Index of the step that an index of the drawn data belongs to: the added end is the last step's. */
export function stepAt(index: number, steps: number): number {
  return Math.min(index, steps - 1);
}
