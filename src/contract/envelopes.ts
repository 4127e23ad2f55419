/** What stands around the data of an answer. Every path has its envelope, also for errors and for paths we do not know. */
import { type EnvelopeName, ROUTE_NAMES, ROUTES } from './routes.ts';

/** The acceleration interface: `status` is 0 or 1. */
interface CdnEnvelope<D = unknown> {
  readonly status: 0 | 1;
  readonly info: string;
  readonly data: D;
}

/** `/api/sms/*`: `code` is 1000, or a number of the error table; `sendid` is empty unless it is 1000. */
interface SmsSendEnvelope {
  readonly code: number;
  readonly sendid: string;
  readonly msg: string;
}

/** `/api/app/*`: as the acceleration interface, but `status` is 1000 or a number of the error table. */
interface SmsAppEnvelope<D = unknown> {
  readonly status: number;
  readonly info: string;
  readonly data: D;
}

export type Envelope = CdnEnvelope | SmsSendEnvelope | SmsAppEnvelope;

const SMS_SUCCESS = 1000;

export function successEnvelope(name: EnvelopeName, info: string, data: unknown): Envelope {
  if (name === 'smsSend') return { code: SMS_SUCCESS, sendid: sendidOf(data), msg: info };
  return { status: name === 'cdn' ? 1 : SMS_SUCCESS, info, data };
}

/** The data of an operation that sends is `{ sendid }` and has no place of its own in the answer. */
function sendidOf(data: unknown): string {
  return typeof data === 'object' && data !== null && 'sendid' in data ? String(data.sendid) : '';
}

/** Takes an answer apart, with the same names for each envelope; `undefined` if it is not in this one. */
export function openEnvelope(name: EnvelopeName, answer: unknown) {
  if (typeof answer !== 'object' || answer === null) return undefined;
  const { status, info, data, code, msg, sendid }: Readonly<Record<string, unknown>> = { ...answer };
  if (name === 'smsSend') {
    if (typeof code !== 'number' || typeof msg !== 'string') return undefined;
    return { isSuccess: code === SMS_SUCCESS, status: code, info: msg, data: { sendid } };
  }
  if (typeof status !== 'number' || typeof info !== 'string') return undefined;
  return { isSuccess: status === (name === 'cdn' ? 1 : SMS_SUCCESS), status, info, data };
}

export function failureEnvelope(name: EnvelopeName, smsCode: number, info: string, data: unknown): Envelope {
  switch (name) {
    case 'cdn':
      return { status: 0, info, data };
    case 'smsSend':
      return { code: smsCode, sendid: '', msg: info };
    case 'smsApp':
      return { status: smsCode, info, data };
  }
}

/** `path` without its query; need not be of an operation. */
export function envelopeOfPath(path: string): EnvelopeName {
  const name = ROUTE_NAMES.find((known) => ROUTES[known].path === path);
  if (name !== undefined) return ROUTES[name].envelope;
  if (path.startsWith('/api/sms/')) return 'smsSend';
  return path.startsWith('/api/app/') ? 'smsApp' : 'cdn';
}
