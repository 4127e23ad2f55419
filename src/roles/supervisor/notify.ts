/** News for systemd about the service. Node has no datagram sockets of the kind that systemd reads, so a program sends them. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { environmentWith } from '#config';
import type { Logger } from '#lib/logger.ts';

/** Part of systemd. */
const PROGRAM = 'systemd-notify';
const LIMIT_MS = 10_000;

/** Sends assignments such as `READY=1`. Never rejects. sd_notify(3) */
export type Notify = (...news: readonly string[]) => Promise<void>;

/** `socket`: what systemd says in `NOTIFY_SOCKET`; `undefined`: nobody waits, and nothing is sent. */
export function createNotify(socket: string | undefined, log: Logger): Notify {
  if (socket === undefined) return async () => undefined;
  return async (...news) => {
    try {
      // The unit has NotifyAccess=all, since the program is the sender.
      await promisify(execFile)(PROGRAM, [...news], {
        env: environmentWith({ NOTIFY_SOCKET: socket }),
        timeout: LIMIT_MS,
      });
    } catch (error) {
      log.error(
        { err: error, news },
        `cannot notify systemd with ${PROGRAM}; a unit with Type=notify ends the service`,
      );
    }
  };
}
