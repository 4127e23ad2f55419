/** Connectors at work, and what becomes of a number, on the wire. Used by `wire-sms-operator.ts`. */
import type { DataOf, RequestOf } from '#contract/operations.ts';
import type { Locale } from '#contract/schema/locale.ts';
import { explainSmsError } from '#contract/sms/error-texts.ts';
import type { SmsPrice } from '#db/tables/sms/balance.ts';
import type { ConnectorError } from '#db/tables/sms/connector-states.ts';
import type { StoredConnector } from '#db/tables/sms/connectors.ts';
import type { Currency } from '#model/currency.ts';
import type { SmsKind } from '#model/sms-app.ts';
import { explainWord } from '#model/sms-status-words.ts';
import type { ConnectorOfControl } from '../sms/sms-services.ts';
import { writeControl } from './wire-desk.ts';
import { readNumber, textOf, writeCurrency } from './wire-sms-search.ts';
import type { Writers } from './writers.ts';

type StateRoute = `smsOperator.${'listStates' | 'testNumber'}`;

export interface ConnectorStateView {
  readonly connector: StoredConnector;
  readonly sessions: readonly ConnectorOfControl[];
  readonly queued: number;
  readonly errors: readonly ConnectorError[];
}

interface NumberView {
  readonly number: string;
  readonly kind: SmsKind;
  readonly price: SmsPrice | undefined;
  readonly route: { readonly prefix: string; readonly connectors: readonly string[] };
  readonly currency: Currency;
}

export const READ_SMS_STATES = {
  'smsOperator.listStates': () => undefined,
  'smsOperator.testNumber': ({ mobile, kind }) => ({ number: readNumber(mobile), kind: kind ?? ('ordinary' as const) }),
} satisfies { readonly [N in StateRoute]: (request: RequestOf<N>) => unknown };

export const WRITE_SMS_STATES = {
  'smsOperator.listStates': (
    { list, since }: { readonly list: readonly ConnectorStateView[]; readonly since: number },
    { locale },
  ) => ({ list: list.map((view) => writeState(view, locale)), errors_since: since }),
  'smsOperator.testNumber': ({ number, kind, price, route, currency }: NumberView) => ({
    mobile: number,
    kind,
    price: price?.price ?? 0,
    price_prefix: price?.prefix ?? '',
    ...writeCurrency(currency),
    route_prefix: route.prefix,
    connectors: [...route.connectors],
  }),
} satisfies Writers<StateRoute>;

type StateData = DataOf<'smsOperator.listStates'>['list'][0];

function writeState({ connector, sessions, queued, errors }: ConnectorStateView, locale: Locale): StateData {
  const { name, settings, partsPerSecond = 0 } = connector;
  const misconfigured = sessions.find((session) => session.misconfigured !== undefined)?.misconfigured ?? '';
  const sum = (of: 'rate' | 'inFlight') => sessions.reduce((total, { [of]: value }) => total + value, 0);
  return {
    ...{ name, kind: settings.kind, state: stateOf(connector, sessions), rate_limit: partsPerSecond },
    window: windowOf(settings),
    rate: Math.round(sum('rate') * 10) / 10,
    in_flight: sum('inFlight'),
    misconfigured,
    misconfigured_text: explain(misconfigured, connector, locale),
    queued,
    sessions: sessions.map(({ control, state, sendsSince = 0, receivesSince = 0, rate, inFlight }) => ({
      ...{ control: writeControl(control), state, sends_since: sendsSince, receives_since: receivesSince },
      ...{ rate, in_flight: inFlight },
    })),
    errors: errors.map(({ code, from, count }) => ({ code, from, count, text: explain(code, connector, locale) })),
  };
}

/** Parts that all connections may have in flight. */
function windowOf(settings: StoredConnector['settings']): number {
  if (settings.kind === 'loopback') return 0;
  return settings.kind === 'smpp' ? settings.window : settings.window * settings.connections * settings.sessions;
}

function stateOf({ enabled }: StoredConnector, sessions: readonly ConnectorOfControl[]): StateData['state'] {
  if (!enabled) return 'disabled';
  const sends = ({ sendsSince }: ConnectorOfControl) => sendsSince !== undefined;
  const receives = ({ receivesSince }: ConnectorOfControl) => receivesSince !== undefined;
  if (sessions.some((session) => sends(session) && receives(session))) return 'up';
  return sessions.some((session) => sends(session) || receives(session)) ? 'partial' : 'down';
}

function explain(code: string, { settings }: StoredConnector, locale: Locale): string {
  const meaning = settings.kind !== 'loopback' ? explainWord(code, settings.statusWords) : undefined;
  return textOf(meaning, locale) || (explainSmsError(code)?.[locale] ?? '');
}
