/**
 * The way to an identity provider and back. What the service gave for the way lies in this tab alone, so an answer that was
 * meant for another browser signs nobody in. docs/decisions/0666
 */
import type { Locale } from '#contract/schema/locale.ts';
import type { Caller } from './call.ts';
import type { News } from './components/toasts.tsx';
import { problemOf } from './queries.ts';
import { providerText } from './text/provider.ts';

const KEY = 'causeway-provider';

export interface ProviderTrip {
  readonly purpose: 'signIn' | 'link';
  /** Sealed by the service. */
  readonly flow: string;
  /** Address to be at afterwards. */
  readonly wanted: string;
}

/** Leaves the console. */
export function goToProvider(address: string, trip: ProviderTrip): void {
  sessionStorage.setItem(KEY, JSON.stringify(trip));
  location.assign(address);
}

interface Arrival {
  /** Why nobody is signed in. */
  readonly problem?: string;
  /** Links the identity, once the page is there, which may have to ask for a proof. Returns what to say of it. */
  readonly link?: () => Promise<News>;
}

interface ArrivalOptions {
  readonly caller: Caller;
  /** Where the console is served. */
  readonly base: string;
  readonly locale: Locale;
}

/** Ends a trip, before anything is shown: the address is as it was before, and the service knows what the provider said. */
export async function arrive({ caller, base, locale }: ArrivalOptions): Promise<Arrival> {
  const t = providerText[locale];
  const saved = sessionStorage.getItem(KEY);
  sessionStorage.removeItem(KEY);
  const trip: ProviderTrip | undefined = saved === null ? undefined : JSON.parse(saved);
  const provider_query = location.search;
  history.replaceState(null, '', trip?.wanted ?? base);
  if (trip === undefined) return { problem: t.stray };
  const answer = { provider_query, provider_flow: trip.flow };
  if (trip.purpose === 'link') return { link: () => link(caller, answer, t.linked) };
  try {
    await caller.call('session.begin', answer);
    return {};
  } catch (error) {
    return { problem: problemOf(error).text };
  }
}

async function link(
  caller: Caller,
  answer: { readonly provider_query: string; readonly provider_flow: string },
  linked: string,
): Promise<News> {
  try {
    await caller.call('person.linkProvider', answer);
    return { about: 'provider', title: linked };
  } catch (error) {
    return { about: 'provider', title: problemOf(error).text, stayMs: 0 };
  }
}
