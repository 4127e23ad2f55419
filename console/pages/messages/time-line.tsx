/** What happened to a part, from top to bottom, with the time that passed between two events. */
import type { DataOf } from '#contract/operations.ts';
import { Time } from '../../components/time.tsx';
import { classes } from '../../lib/classes.ts';
import { usePreference } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { messagesText } from '../../text/messages.ts';
import { formatGap } from './format-gap.ts';
import styles from './time-line.module.css';

type Event = DataOf<'sms.getMessage'>['parts'][number]['events'][number];

const BAD: readonly Event['kind'][] = ['refused', 'failed', 'expired', 'lost', 'unknown'];

export function TimeLine({ events }: { readonly events: readonly Event[] }) {
  const t = useText(messagesText);
  const locale = usePreference('locale');
  return (
    <ol className={styles['line']}>
      {events.map((event, n) => {
        const gap = event.at - (events[n - 1]?.at ?? event.at);
        return (
          <li
            // An event can come twice at the same time, and none is ever moved.
            // biome-ignore lint/suspicious/noArrayIndexKey: see above
            key={n}
            className={classes(styles['event'], BAD.includes(event.kind) && styles['bad'])}
          >
            <p className={styles['head']}>
              <em>{t.events[event.kind]}</em>
              <span className="dim">
                <Time at={event.at} />
                {gap > 0 && ` · ${t.later(formatGap(gap, locale))}`}
              </span>
            </p>
            {event.text !== '' && <p>{event.text}</p>}
            <Details event={event} />
          </li>
        );
      })}
    </ol>
  );
}

/** Names and codes, for those who ask the carrier. */
function Details({ event: { connector, carrier_id, error, word } }: { readonly event: Event }) {
  const t = useText(messagesText);
  const details = [
    [t.code, word || error],
    [t.connector, connector],
    [t.carrierId, carrier_id],
  ].filter(([, value]) => value !== '');
  if (details.length === 0) return null;
  return (
    <p className={classes('help', styles['head'])}>
      {details.map(([title, value]) => (
        <span key={title}>
          {title} <span className="mono wrap">{value}</span>
        </span>
      ))}
    </p>
  );
}
