/**
 * Log lines of a long-lived answer to a viewer of HTTP-FLV or WebSocket-FLV: one each minute and one at its end, each
 * with the bytes since the previous one. docs/decisions/0498. Pure.
 */
import type { AccessRecord } from '#logs/line.ts';
import type { LineLedger } from '../respond/edge-answer.ts';

export function openLedger(now: number): LineLedger {
  return { lines: 0, at: now, requestBytes: 0, responseBytes: 0 };
}

/** Returns the line since the previous one, and updates the ledger. `whole`: the request from its beginning. */
export function lineSince(ledger: LineLedger, whole: AccessRecord, statusSent: number): AccessRecord {
  const record: AccessRecord = {
    ...whole,
    durationMs: whole.endedAt - ledger.at,
    requestBytes: whole.requestBytes - ledger.requestBytes,
    // A cut answer has sent less than was counted: earlier lines include bytes that the system had not taken yet.
    responseBytes: Math.max(0, whole.responseBytes - ledger.responseBytes),
    // Not 499 at the end: every viewer of an endless stream leaves at some time.
    status: statusSent === 0 ? whole.status : statusSent,
    isContinued: ledger.lines > 0,
  };
  ledger.lines++;
  ledger.at = whole.endedAt;
  ledger.requestBytes = whole.requestBytes;
  ledger.responseBytes = whole.responseBytes;
  return record;
}
