/** A certificate that is being obtained, as it is answered. Used by `wire.ts` only. */
import { REQUEST_PROBLEM_LABELS, REQUEST_STATE_LABELS } from '#contract/domains/labels.ts';
import type { DataOf } from '#contract/operations.ts';
import { type CertificateOrder, NEVER_AT } from '#model/certificate-order.ts';
import type { Look } from './wire-domain.ts';

export function writeCertificateRequest(
  order: CertificateOrder | undefined,
  { locale, formatTime }: Look,
): DataOf<'config.getCertificateRequest'> {
  const problem = order?.problem;
  const state = order === undefined || problem === 'replaced' ? 'none' : order.state;
  const waits = state === 'issued' || state === 'failed' || (problem !== undefined && problem !== 'replaced');
  return {
    state,
    state_name: REQUEST_STATE_LABELS[state][locale],
    problem: problem ?? '',
    problem_name: problem === undefined ? '' : REQUEST_PROBLEM_LABELS[problem][locale],
    detail: order?.detail ?? '',
    ssl_key: order?.issuedKey ?? '',
    request_time: order === undefined ? '' : formatTime(order.requestedAt),
    next_time: order !== undefined && waits && order.dueAt < NEVER_AT ? formatTime(nextTime(order)) : '',
  };
}

/** Next attempt. Before a renewal the order is due now and then, because the authority may suggest a time. */
function nextTime({ state, dueAt, renewAt }: CertificateOrder): number {
  return state === 'issued' ? Math.max(dueAt, renewAt) : dueAt;
}
