/**
 * Access-log lines of RTMP sessions: one each minute and one at the end, each with the bytes since the previous one.
 * docs/decisions/0498
 */
import type { Clock } from '#lib/clock.ts';
import type { Timers } from '#lib/timers.ts';
import type { AccessRecord } from '#logs/line.ts';
import type { AccessLog } from '#logs/spool.ts';
import { maskAuthKeys } from '#sites/live-key.ts';
import type { RtmpConnection, RtmpRequest } from './rtmp/conversation.ts';

export interface SessionLinesOptions {
  readonly accessLog: Pick<AccessLog, 'write'>;
  readonly clock: Clock;
  readonly timers: Timers;
}

export interface LoggedSession {
  readonly method: 'PUBLISH' | 'PLAY';
  /** 0 if the session belongs to no domain. */
  readonly domainId: number;
  readonly request: RtmpRequest;
  readonly connection: Pick<RtmpConnection, 'receivedBytes' | 'sentBytes'>;
}

export type Outcome = Pick<AccessRecord, 'cacheCode' | 'status'>;

const LINE_EVERY_MS = 60_000;

export class SessionLines {
  readonly #options: SessionLinesOptions;

  constructor(options: SessionLinesOptions) {
    this.#options = options;
  }

  /** Writes the line of a session that was refused. */
  refuse(session: LoggedSession, outcome: Outcome): void {
    const { accessLog, clock } = this.#options;
    const { receivedBytes, sentBytes } = session.connection;
    const counts = { durationMs: 0, requestBytes: receivedBytes, responseBytes: sentBytes };
    accessLog.write(session.domainId, { ...describe(session), ...outcome, ...counts, endedAt: clock() });
  }

  /**
   * Opens the lines of a session, which begin with `goOn`. `pause` writes the last one and stops them until the next
   * `goOn`.
   */
  open(session: LoggedSession, outcome: Outcome): { goOn(): void; pause(): void } {
    const { accessLog, clock, timers } = this.#options;
    const described = { ...describe(session), ...outcome };
    let isContinued = false;
    let receivedBytes = 0;
    let sentBytes = 0;
    let since = timers.now();
    let cancel = () => {};
    const write = () => {
      const { connection, domainId } = session;
      const now = timers.now();
      accessLog.write(domainId, {
        ...described,
        endedAt: clock(),
        durationMs: Math.round(now - since),
        requestBytes: connection.receivedBytes - receivedBytes,
        responseBytes: connection.sentBytes - sentBytes,
        isContinued,
      });
      ({ receivedBytes, sentBytes } = connection);
      since = now;
      isContinued = true;
    };
    const writeAgain = () => {
      write();
      cancel = timers.after(LINE_EVERY_MS, writeAgain);
    };
    return {
      goOn() {
        since = timers.now();
        cancel();
        cancel = timers.after(LINE_EVERY_MS, writeAgain);
      },
      pause() {
        cancel();
        write();
      },
    };
  }
}

function describe({ method, request }: LoggedSession) {
  const { clientAddress, host = '', app, stream, query, pageUrl, flashVer } = request;
  return {
    clientAddress,
    host: latin1(host),
    method,
    target: latin1(maskAuthKeys(`rtmp://${host}/${app}/${stream}${writeQuery(query)}`)),
    httpVersion: '',
    protocol: 'RTMP/1.0',
    contentType: undefined,
    referer: latin1(maskAuthKeys(pageUrl)),
    userAgent: latin1(flashVer),
  } as const;
}

function writeQuery(query: URLSearchParams): string {
  return query.size === 0 ? '' : `?${query}`;
}

/** Converts a text to one character per byte, as log lines have it. */
function latin1(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}
