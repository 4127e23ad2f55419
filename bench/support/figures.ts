/** What is compared of servers that do the same in turns: how many answers a second, and what each cost the server's processor. */

export interface Rival {
  readonly port: number;
  /** Processor time of its one worker, since it was started. */
  cpuMs(): number;
}

export interface Figure {
  readonly perSecond: number;
  readonly cpuMicros: number;
}

export function medians(figures: readonly Figure[]): Figure {
  const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
  return {
    perSecond: median(figures.map(({ perSecond }) => perSecond)),
    cpuMicros: median(figures.map(({ cpuMicros }) => cpuMicros)),
  };
}

export function showFigure({ perSecond, cpuMicros }: Figure): string {
  return `${Math.round(perSecond)}/s of ${cpuMicros.toFixed(1)} µs`;
}

export function showRatios(our: Figure, their: Figure, them: string): string {
  const [rate, cpu] = [our.perSecond / their.perSecond, their.cpuMicros / our.cpuMicros];
  return `${rate.toFixed(2)} of ${them}, ${cpu.toFixed(2)} per CPU second`;
}
