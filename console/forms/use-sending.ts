/** One attempt after the other: what is being sent, and why the last attempt did not succeed. */
import { type FormEvent, useState } from 'react';
import type { Problem } from '../components/load.ts';
import { problemOf } from '../queries.ts';

interface Sending {
  readonly isBusy: boolean;
  /** What the last attempt has thrown. */
  readonly error: unknown;
  /** The same as the service said it. */
  readonly problem: Problem | undefined;
  readonly run: () => Promise<void>;
  readonly onSubmit: (event: FormEvent) => Promise<void>;
}

export function useSending(send: () => Promise<unknown>): Sending {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const run = async () => {
    if (isBusy) return;
    setBusy(true);
    setError(undefined);
    try {
      await send();
    } catch (thrown) {
      setError(thrown);
    } finally {
      setBusy(false);
    }
  };
  const onSubmit = async (event: FormEvent) => {
    event.preventDefault();
    await run();
  };
  return { isBusy, error, problem: error === undefined ? undefined : problemOf(error), run, onSubmit };
}
