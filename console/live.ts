/**
 * What changes elsewhere is seen here: one tab of the browser holds the stream of hints and passes them to the others. A
 * hint names what to read again and carries no data. Without a stream, what is seen is polled. docs/decisions/0660
 */

import type * as z from 'zod';
import type { ServerEvent } from '#client/server-events.ts';
import type { CallOf } from '#contract/operations.ts';
import type { HINT_DATA } from '#contract/operators/watch-operations.ts';
import { createStore, type Store } from './lib/store.ts';

type Hint = z.infer<typeof HINT_DATA>;

/** `streaming`: hints come. `polling`: they do not, and what is seen is read at an interval. */
export type LiveState = 'streaming' | 'polling';

/** Everything may have changed: hints were lost. */
export type Heard = Hint | 'gap';

/** Said by the tab that leads, or asked of it by one that was opened later. */
type Message = { readonly state: LiveState; readonly heard?: Heard } | 'which state?';

export interface LiveParts {
  readonly watch: (request: CallOf<'event.watch'>, signal: AbortSignal) => AsyncIterable<ServerEvent>;
  readonly onHeard: (heard: Heard) => void;
  readonly state: Store<LiveState>;
  readonly channel: Pick<BroadcastChannel, 'postMessage' | 'onmessage'>;
  /** Holds the lock while `work` runs; only one tab has it. */
  readonly lead: (work: (signal: AbortSignal) => Promise<void>) => Promise<void>;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

const PAUSE_MS = 1000;
const POLL_MS = 5000;
/** Failures in a row after which the tabs poll. */
const PATIENCE = 2;

export function createLiveState(): Store<LiveState> {
  return createStore<LiveState>('polling');
}

/** Runs until `lead` ends. Never rejects but for a mistake of its own. */
export async function runLive(parts: LiveParts): Promise<void> {
  const { channel, state, onHeard } = parts;
  channel.onmessage = ({ data }: { readonly data: Message }) => {
    if (data === 'which state?') return;
    state.set(data.state);
    if (data.heard !== undefined) onHeard(data.heard);
  };
  channel.postMessage('which state?' satisfies Message);
  await parts.lead((signal) => holdStream(parts, signal));
}

async function holdStream({ watch, channel, state, onHeard, wait }: LiveParts, signal: AbortSignal): Promise<void> {
  const say = (message: Exclude<Message, string>) => {
    state.set(message.state);
    channel.postMessage(message);
    if (message.heard !== undefined) onHeard(message.heard);
  };
  channel.onmessage = ({ data }: { readonly data: Message }) => {
    if (data === 'which state?') channel.postMessage({ state: state.get() } satisfies Message);
  };
  let after: string | undefined;
  let failures = 0;
  let hasBegun = false;
  while (!signal.aborted) {
    try {
      for await (const { id, event, data } of watch(after === undefined ? {} : { after }, signal)) {
        if (id !== '') after = id;
        failures = 0;
        if (event === 'bye') break;
        const heard = heardOf(event, data, hasBegun);
        hasBegun = true;
        say({ state: 'streaming', ...(heard !== undefined && { heard }) });
      }
    } catch {
      // Refused, cut or silent: tried again below.
    }
    failures += 1;
    if (failures >= PATIENCE) say({ state: 'polling', heard: 'gap' });
    await wait(failures < PATIENCE ? PAUSE_MS : POLL_MS, signal);
  }
}

/** What was shown before the first stream of this tab may be older than the stream, or lack hints that a closed tab had. */
function heardOf(event: string, data: string, hasBegun: boolean): Heard | undefined {
  if (event === 'ready') return hasBegun ? undefined : 'gap';
  return event === 'gap' ? 'gap' : JSON.parse(data);
}
