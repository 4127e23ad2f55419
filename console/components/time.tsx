/** An instant: near ones relative, all with zone, UTC and Unix seconds in the tooltip. */

import { formatAgo, formatClock, formatTime } from '../lib/format.ts';
import { usePreference, useZone } from '../services.tsx';

interface TimeProps {
  /** Unix milliseconds. */
  readonly at: number;
  /** "3 min. ago" below an hour. Shown anew when the component around it is. */
  readonly isRelative?: boolean;
  /** The time of the day alone. */
  readonly isClock?: boolean;
}

export function Time({ at, isRelative = false, isClock = false }: TimeProps) {
  const locale = usePreference('locale');
  const zone = useZone();
  const place = { locale, zone };
  const whole = formatTime(at, place);
  const relative = isRelative ? formatAgo(at, Date.now(), locale) : undefined;
  const title = `${whole} ${zone}\n${formatTime(at, { locale, zone: 'UTC' })} UTC\n${Math.floor(at / 1000)}`;
  return (
    <time dateTime={new Date(at).toISOString()} title={title}>
      {relative ?? (isClock ? formatClock(at, place) : whole)}
    </time>
  );
}
