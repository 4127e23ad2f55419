/** Each connector as it is at the moment: sessions, rate, window, queue, errors. */
import { Badge } from '../../../components/badge.tsx';
import { Card } from '../../../components/card.tsx';
import { Facts } from '../../../components/detail.tsx';
import { Empty, Loaded } from '../../../components/loaded.tsx';
import { Notice } from '../../../components/notice.tsx';
import { Time } from '../../../components/time.tsx';
import type { Tone } from '../../../components/tone.ts';
import { formatNumber } from '../../../lib/format.ts';
import { useRead } from '../../../queries.ts';
import { usePreference } from '../../../services.tsx';
import { useText } from '../../../text/catalogue.ts';
import { connectorsText } from '../../../text/connectors.ts';
import { ConnectorActions } from './connector-actions.tsx';
import { type ConnectorNow, sinceOf } from './connector-now.ts';

/** Reports of other controls are this old. */
const EVERY_MS = 3000;

export function ConnectorCards() {
  const t = useText(connectorsText);
  const load = useRead('smsOperator.listStates', {}, { everyMs: EVERY_MS });
  return (
    <Loaded
      load={load}
      lines={8}
      isEmpty={({ list }) => list.length === 0}
      empty={
        <Card>
          <Empty icon="connectors" title={t.noConnectors} text={t.noConnectorsHelp} />
        </Card>
      }
    >
      {({ list, errors_since }) => (
        <div className="columns">
          {list.map((connector) => (
            <ConnectorCard key={connector.name} connector={connector} errorsSince={errors_since} />
          ))}
        </div>
      )}
    </Loaded>
  );
}

const TONES: Readonly<Record<ConnectorNow['state'], Tone>> = {
  up: 'ok',
  partial: 'warn',
  down: 'bad',
  disabled: 'idle',
};

interface ConnectorCardProps {
  readonly connector: ConnectorNow;
  readonly errorsSince: number;
}

function ConnectorCard({ connector, errorsSince }: ConnectorCardProps) {
  const t = useText(connectorsText);
  const locale = usePreference('locale');
  const { name, kind, state, rate, rate_limit, in_flight, window, queued, sessions, misconfigured } = connector;
  const count = (value: number) => formatNumber(value, locale);
  const rateText = formatNumber(rate, locale, 1);
  const since = (at: number) => (at === 0 ? t.cannot : <Time at={at} isRelative />);
  const isReal = kind !== 'loopback' && state !== 'disabled';
  return (
    <Card
      title={<span className="mono wrap">{name}</span>}
      note={<Badge tone={TONES[state]}>{t.states[state]}</Badge>}
      actions={<ConnectorActions name={name} isEnabled={state !== 'disabled'} />}
    >
      {kind === 'loopback' && state !== 'disabled' && <Notice tone="warn">{t.simulates}</Notice>}
      {misconfigured !== '' && (
        <Notice tone="bad">{t.misconfigured(misconfigured, connector.misconfigured_text)}</Notice>
      )}
      <Facts
        facts={[
          { title: t.sends, value: isReal ? since(sinceOf(sessions, 'sends_since')) : undefined },
          { title: t.receives, value: isReal ? since(sinceOf(sessions, 'receives_since')) : undefined },
          { title: t.rate, value: rate_limit === 0 ? t.rateOnly(rateText) : t.rateOf(rateText, count(rate_limit)) },
          {
            title: t.window,
            value: window === 0 ? count(in_flight) : t.windowOf(count(in_flight), count(window)),
          },
          { title: t.queued, value: t.parts(count(queued)) },
          { title: t.sessions, value: isReal ? sessionsText(sessions, t) : undefined },
          { title: t.errors, value: <Errors errors={connector.errors} since={errorsSince} /> },
        ]}
      />
    </Card>
  );
}

/** The only session of a control that is alone is said by the connector's own state. */
function sessionsText(sessions: ConnectorNow['sessions'], t: (typeof connectorsText)['en']): string | undefined {
  const isPlain = sessions.every(({ control, state }) => control === '' && state === 'bound');
  if (isPlain) return undefined;
  return sessions.map(({ control, state }) => t.sessionAt(control, t.sessionStates[state])).join(', ');
}

const HOUR_MS = 3_600_000;

function Errors({ errors, since }: { readonly errors: ConnectorNow['errors']; readonly since: number }) {
  const t = useText(connectorsText);
  const locale = usePreference('locale');
  if (errors.length === 0) return <span className="dim">{t.noErrors}</span>;
  const isCut = Date.now() - since < HOUR_MS - 60_000;
  return (
    <>
      {isCut && (
        <p className="help">
          {t.errorsSince} <Time at={since} isClock />
        </p>
      )}
      <ul>
        {errors.map(({ code, from, count, text }) => (
          <li key={`${from} ${code}`}>
            {formatNumber(count, locale)} × <span className="mono">{code}</span>{' '}
            <span className="dim">{[t.from[from], text].filter(Boolean).join(' · ')}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
