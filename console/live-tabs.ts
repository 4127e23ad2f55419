/** The live stream among the tabs of a browser: the tab that leads, the channel between them, and the reads that a hint causes. */
import type { QueryClient } from '@tanstack/react-query';
import type { Caller } from './call.ts';
import { oneAtATime } from './lib/one-at-a-time.ts';
import { createStore, type Store } from './lib/store.ts';
import { createLiveState, type Heard, type LiveParts, type LiveState, runLive } from './live.ts';
import { isTouched } from './touched.ts';

const NAME = 'causeway-live';

/** Begins when somebody is signed in, and ends with the session. */
export function startLive(caller: Caller, queries: QueryClient): Store<LiveState> {
  const state = createLiveState();
  const sessions = () => queries.getQueryCache().findAll({ queryKey: ['session.get'] });
  const isSignedIn = () => sessions().some(({ state: { data, error } }) => data !== undefined && error === null);
  const begin = createStore(false);
  queries.getQueryCache().subscribe(() => begin.set(isSignedIn()));
  let stop: AbortController | undefined;
  begin.subscribe(() => {
    stop?.abort();
    if (!begin.get()) return;
    stop = new AbortController();
    void run(caller, queries, state, stop.signal);
  });
  return state;
}

async function run(caller: Caller, queries: QueryClient, state: Store<LiveState>, signal: AbortSignal): Promise<void> {
  const channel = new BroadcastChannel(NAME);
  signal.addEventListener('abort', () => channel.close());
  await runLive({
    watch: caller.watch,
    state,
    channel,
    onHeard: createReader(queries),
    lead: (work) => navigator.locks.request(NAME, { signal }, () => work(signal)).catch(() => undefined), // aborted
    wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  });
}

/**
 * Hints that come faster than what they name is read lead to one more reading, not to one each: a reading that is begun
 * anew with each of them would never end.
 */
function createReader(queries: QueryClient): LiveParts['onHeard'] {
  const readings = new Map<string, () => Promise<void>>();
  return (heard) => {
    const name = heard === 'gap' ? heard : heard.kind;
    const read = readings.get(name) ?? oneAtATime(() => readAgain(queries, heard));
    readings.set(name, read);
    void read(); // never rejects: failures are shown by the queries
  };
}

/** A hidden page reads when it is seen again. */
async function readAgain(queries: QueryClient, heard: Heard): Promise<void> {
  await queries.invalidateQueries({
    predicate: ({ queryKey: [name] }) => heard === 'gap' || isTouched(String(name), `${heard.kind}.${heard.hint}`),
    refetchType: document.hidden ? 'none' : 'active',
  });
}
