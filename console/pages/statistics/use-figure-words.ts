/** How figures are called and written. */
import { useCallback } from 'react';
import { formatBitRate, formatBytes, formatNumber, formatRatio, formatShort } from '../../lib/format.ts';
import type { StatisticsQuery } from '../../routes/statistics.ts';
import { usePreference } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { statisticsText } from '../../text/statistics.ts';
import type { Figure } from './figures.ts';

const FORMATS = {
  requests: (value, locale) => (Number.isInteger(value) ? formatShort(value, locale) : formatNumber(value, locale, 1)),
  traffic: formatBytes,
  bandwidth: formatBitRate,
  hit_ratio: formatRatio,
} as const satisfies Readonly<Record<StatisticsQuery['metric'], typeof formatBytes>>;

export interface FigureWords {
  /** Null: there is no value. */
  readonly format: (value: number | null) => string;
  readonly nameOf: (figure: Pick<Figure, 'name' | 'isCompared'>) => string;
}

/** Both functions stay the same while what they depend on does. */
export function useFigureWords(metric: StatisticsQuery['metric'], compare: StatisticsQuery['compare']): FigureWords {
  const t = useText(statisticsText);
  const locale = usePreference('locale');
  const format = useCallback(
    (value: number | null) => (value === null ? '—' : FORMATS[metric](value, locale)),
    [metric, locale],
  );
  const nameOf = useCallback(
    ({ name, isCompared }: Pick<Figure, 'name' | 'isCompared'>) => {
      const own = typeof name === 'string' ? t.figureNames[name] : name.domain;
      return isCompared ? t.ofComparison(own, t.earlier[compare]) : own;
    },
    [t, compare],
  );
  return { format, nameOf };
}
