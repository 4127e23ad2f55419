/** Preferences that follow a person to other browsers: they are read with the session, and saved when they are chosen. */
import { useEffect } from 'react';
import { type Preferences, preferencesOf, profileOf } from '../lib/preferences.ts';
import { useChange } from '../queries.ts';
import { type Session, useServices, useSessionIfAny } from '../services.tsx';

/** Takes over what the person has chosen, here or elsewhere. */
export function useOwnPreferences({ person, time_zone }: Session): void {
  const { preferences } = useServices();
  const saved = person && preferencesOf(person, { service: time_zone, own: ownZone() });
  const { locale, zone, density } = saved ?? {};
  useEffect(() => {
    const chosen = { ...(locale && { locale }), ...(zone && { zone }), ...(density && { density }) };
    preferences.set({ ...preferences.get(), ...chosen });
  }, [preferences, locale, zone, density]);
}

type Prefer = (chosen: Partial<Preferences>) => void;

/** Chooses here and now, and saves what concerns the person. */
export function usePrefer(): Prefer {
  const { preferences } = useServices();
  const session = useSessionIfAny();
  const save = useChange('person.set');
  return (chosen) => {
    preferences.set({ ...preferences.get(), ...chosen });
    const profile = profileOf(chosen, { service: session?.time_zone ?? 'UTC', own: ownZone() });
    if (session?.person != null && Object.keys(profile).length > 0) save.mutate(profile);
  };
}

function ownZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}
