/** How figures are called and written. */
import { useCallback } from 'react';
import { formatBitRate, formatBytes, formatNumber, formatRatio, formatShort } from '../../lib/format.ts';
import type { StatisticsQuery } from '../../routes.ts';
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

/** Both functions stay the same while what they depend on does. */
export function useFigureWords(
  metric: StatisticsQuery['metric'],
  compare: StatisticsQuery['compare'],
  other: string,
): { readonly format: (value: number) => string; readonly nameOf: (figure: Figure) => string } {
  const t = useText(statisticsText);
  const locale = usePreference('locale');
  const format = useCallback((value: number) => FORMATS[metric](value, locale), [metric, locale]);
  const nameOf = useCallback(
    ({ name, isCompared }: Figure) => {
      const own = name in t ? t[name as keyof typeof t & typeof name] : name;
      const which = { '': '', before: t.earlier, week: t.weekEarlier, domain: other === '' ? t.allDomains : other };
      return isCompared ? t.ofComparison(own, which[compare]) : own;
    },
    [t, compare, other],
  );
  return { format, nameOf };
}
