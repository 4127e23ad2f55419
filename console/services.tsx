/** What every component can reach: calls, preferences, toasts, the live stream, who is signed in. */
import { createContext, use, useSyncExternalStore } from 'react';
import type { DataOf } from '#contract/operations.ts';
import type { Caller } from './call.ts';
import type { Toasts } from './components/toasts.tsx';
import type { Preferences } from './lib/preferences.ts';
import { type Store, useStore } from './lib/store.ts';
import type { LiveState } from './live.ts';
import type { Draft } from './pages/domain/settings-draft.ts';
import type { Proofs } from './proofs.ts';

export interface Services {
  readonly caller: Caller;
  readonly preferences: Store<Preferences>;
  readonly toasts: Toasts;
  readonly proofs: Proofs;
  /** Why the way by an identity provider, with which the page began, did not succeed. */
  readonly entryProblem: string | undefined;
  readonly live: Store<LiveState>;
  /** Settings that were changed and not applied, by domains: they outlast leaving the page. */
  readonly drafts: Store<ReadonlyMap<string, Draft>>;
  /** Loads the whole page anew if the service answers; else returns why it cannot be done. */
  reload(): Promise<string | undefined>;
}

export type Session = DataOf<'session.get'>;

export const ServicesContext = createContext<Services | undefined>(undefined);
/** The session; `undefined` before the sign-in. */
export function useSessionIfAny(): Session | undefined {
  return use(SessionContext);
}

export const SessionContext = createContext<Session | undefined>(undefined);

export function useServices(): Services {
  const services = use(ServicesContext);
  if (services === undefined) throw new Error('the component is rendered outside of the console');
  return services;
}

/** Only below the sign-in. */
export function useSession(): Session {
  const session = use(SessionContext);
  if (session === undefined) throw new Error('the component is rendered without a session');
  return session;
}

export function usePreference<K extends keyof Preferences>(name: K): Preferences[K] {
  return useStore(useServices().preferences)[name];
}

/** IANA name of the zone in which times are shown. */
export function useZone(): string {
  const zone = usePreference('zone');
  const service = use(SessionContext)?.time_zone;
  if (zone === 'utc') return 'UTC';
  return (zone === 'service' ? service : undefined) ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** `light` or `dark`: what is chosen, or what the system says. */
export function useTheme(): 'light' | 'dark' {
  const chosen = usePreference('theme');
  const isDark = useSyncExternalStore(
    (listener) => {
      DARK.addEventListener('change', listener);
      return () => DARK.removeEventListener('change', listener);
    },
    () => DARK.matches,
  );
  if (chosen !== 'system') return chosen;
  return isDark ? 'dark' : 'light';
}

const DARK = matchMedia('(prefers-color-scheme: dark)');
