/** Messages of a day by what became of them. Pure. */
import type { DataOf } from '#contract/operations.ts';

type Row = DataOf<'sms.statistics'>['list'][number];

interface MessageCounts {
  readonly sent: number;
  readonly delivered: number;
  readonly failed: number;
  /** Neither delivered nor failed yet. */
  readonly open: number;
}

const DELIVERED: readonly Row['status'][] = ['delivered'];
const FAILED: readonly Row['status'][] = ['failed', 'expired', 'rejected', 'unknown'];

/** `today`: `YYYY-MM-DD` in the service's time zone. */
export function messageCounts(rows: readonly Row[], today: string): MessageCounts {
  const sumOf = (statuses?: readonly Row['status'][]) =>
    rows
      .filter(({ day, status }) => day === today && (statuses?.includes(status) ?? true))
      .reduce((sum, { messages }) => sum + messages, 0);
  const [sent, delivered, failed] = [sumOf(), sumOf(DELIVERED), sumOf(FAILED)];
  return { sent, delivered, failed, open: sent - delivered - failed };
}
