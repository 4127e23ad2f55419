/**
 * Lines of an answer that lasts, a viewer of HTTP-FLV or WebSocket-FLV: one each minute and one at its end, each with what has come
 * since the line before. docs/decisions/0498. Pure.
 */
import type { AccessRecord } from '#logs/line.ts';
import type { LineLedger } from '../respond/edge-answer.ts';

export function openLedger(now: number): LineLedger {
  return { lines: 0, at: now, requestBytes: 0, responseBytes: 0 };
}

/** `whole`: the request from its beginning. Gives what has come since the last line, and notes it. */
export function lineSince(ledger: LineLedger, whole: AccessRecord, statusSent: number): AccessRecord {
  const record: AccessRecord = {
    ...whole,
    durationMs: whole.endedAt - ledger.at,
    requestBytes: whole.requestBytes - ledger.requestBytes,
    // An answer that was cut has sent less than it seemed to: what the system had not taken was counted before.
    responseBytes: Math.max(0, whole.responseBytes - ledger.responseBytes),
    // How it ends says nothing: every viewer of a stream without end leaves some time.
    status: statusSent === 0 ? whole.status : statusSent,
    isContinued: ledger.lines > 0,
  };
  ledger.lines++;
  ledger.at = whole.endedAt;
  ledger.requestBytes = whole.requestBytes;
  ledger.responseBytes = whole.responseBytes;
  return record;
}
