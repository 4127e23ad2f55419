/** Calls of the service, all of them: within the tab's budget, in the person's language. */
import { ClientError } from '#client/client-error.ts';
import { followLog, type LogItem } from '#client/follow-log.ts';
import type { ServerEvent } from '#client/server-events.ts';
import { type CallExtras, type Client, createTransport } from '#client/transport.ts';
import { watchEvents } from '#client/watch-events.ts';
import type { CallOf } from '#contract/operations.ts';
import type { RouteName } from '#contract/routes.ts';
import type { Locale } from '#contract/schema/locale.ts';
import { CallBudget } from './budget.ts';
import { createStore, type Store } from './lib/store.ts';

export interface Caller extends Client {
  /** The stream of hints. Throws `ClientError`. */
  watch(request: CallOf<'event.watch'>, signal: AbortSignal): AsyncGenerator<ServerEvent>;
  /** The lines of a log, from an address that `log.tail` gave. Throws `ClientError`. */
  followLog(url: string, signal: AbortSignal): AsyncGenerator<LogItem>;
  /** Whether the last call reached the service. */
  readonly isOnline: Store<boolean>;
  /** Ends a pause: a person asks to try again now. */
  resume(): void;
}

interface CallerOptions {
  readonly locale: () => Locale;
  /** The service knows no session any longer. */
  readonly onSignedOut: () => void;
  /** Asks the person for a proof, without which the service refuses; false: there is none. */
  readonly prove: () => Promise<boolean>;
}

export function createCaller({ locale, onSignedOut, prove }: CallerOptions): Caller {
  const budget = new CallBudget({ now: () => performance.now(), random: Math.random, wait });
  const isOnline = createStore(true);
  const options = () => ({ baseUrl: '', locale: locale() });

  const note = (name: RouteName, error: unknown) => {
    if (!(error instanceof ClientError)) return;
    if (error.kind === 'unreachable' || error.kind === 'timeout' || isBroken(error)) budget.noteFailure();
    if (error.kind === 'unreachable') isOnline.set(false);
    // Wrong passwords hold up passwords alone.
    if (error.retryAfterSeconds !== undefined && error.code !== 'tooManySignIns')
      budget.pause(error.retryAfterSeconds * 1000);
    // Else the question who is signed in would ask itself again.
    if (isSignedOut(error) && name !== 'session.get') onSignedOut();
  };

  const callOnce: Caller['call'] = async (name, request, callOptions: CallExtras = {}) =>
    await budget.run(async () => {
      try {
        const data = await createTransport(options()).call(name, request, callOptions);
        budget.noteSuccess();
        isOnline.set(true);
        return data;
      } catch (error) {
        note(name, error);
        throw error;
      }
    }, callOptions.signal);

  return {
    isOnline,
    resume: () => budget.resume(),
    call: async (name, request, callOptions) => {
      try {
        return await callOnce(name, request, callOptions);
      } catch (error) {
        if (!isProofNeeded(error) || !(await prove())) throw error;
        return await callOnce(name, request, callOptions);
      }
    },
    followLog: (url, signal) => followLog(options(), url, signal),
    watch: async function* (request, signal) {
      try {
        yield* watchEvents(options(), request, signal);
      } catch (error) {
        if (isSignedOut(error)) onSignedOut();
        throw error;
      }
    },
  };
}

/** Signed out, or signed in elsewhere and ended here. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof ClientError && (error.code === 'notSignedIn' || error.code === 'sessionEnded');
}

/** Signed in, and not for something as grave as this. docs/decisions/0695 */
function isProofNeeded(error: unknown): boolean {
  return error instanceof ClientError && error.code === 'proofNeeded';
}

/** What stands before the service answered, or the service is failing. */
function isBroken({ http = 0 }: ClientError): boolean {
  return http >= 500;
}

async function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
