/**
 * The way to an identity provider and back. What the service gave for the way lies in this tab alone, so an answer that was
 * meant for another browser signs nobody in. docs/decisions/0666
 */
import type { Caller } from './call.ts';
import { PROVIDER_PATH } from './routes.ts';

const KEY = 'causeway-provider';

export interface ProviderTrip {
  readonly purpose: 'signIn' | 'link';
  /** Sealed by the service. */
  readonly flow: string;
  /** Address to be at afterwards. */
  readonly wanted: string;
}

/** What the browser has come back with. `trip` absent: none was begun in this tab. */
export interface ProviderReturn {
  readonly trip: ProviderTrip | undefined;
  readonly query: string;
}

/** Leaves the console. */
export function goToProvider(address: string, trip: ProviderTrip): void {
  sessionStorage.setItem(KEY, JSON.stringify(trip));
  location.assign(address);
}

/** Whether the page that is loaded ends a trip, which ends once. The address is then as it was before. */
export function takeReturn(base: string): ProviderReturn | undefined {
  const { pathname, search: query } = location;
  if (pathname !== base.replace(/\/$/, '') + PROVIDER_PATH) return undefined;
  const saved = sessionStorage.getItem(KEY);
  sessionStorage.removeItem(KEY);
  const trip: ProviderTrip | undefined = saved === null ? undefined : JSON.parse(saved);
  history.replaceState(null, '', trip?.wanted ?? base);
  return { trip, query };
}

/** Tells the service what the provider said. Throws `ClientError`. */
export async function tellReturn(caller: Caller, { purpose, flow }: ProviderTrip, query: string): Promise<void> {
  const answer = { provider_query: query, provider_flow: flow };
  if (purpose === 'link') await caller.call('person.linkProvider', answer);
  else await caller.call('session.begin', answer);
}
