/** The step of a sign-in that stands before the console, by what the service answers to the question who is signed in. */
import { useRef } from 'react';
import { ClientError } from '#client/client-error.ts';
import { isSignedOut } from './call.ts';

/** `second`: the password was right, and a second factor is awaited. `undefined`: nobody has to sign in, or it is not known yet. */
type EntryStep = 'first' | 'second' | undefined;

interface Answer {
  readonly data: unknown;
  readonly error: unknown;
}

/** A step stays until the service says something else, so that nothing that was typed is lost while it is asked. */
export function useEntryStep({ data, error }: Answer): EntryStep {
  const step = useRef<EntryStep>(undefined);
  if (error !== null) step.current = entryStepOf(error);
  else if (data !== undefined) step.current = undefined;
  return step.current;
}

function entryStepOf(error: unknown): EntryStep {
  if (isSignedOut(error)) return 'first';
  return error instanceof ClientError && error.code === 'secondFactorAwaited' ? 'second' : undefined;
}
