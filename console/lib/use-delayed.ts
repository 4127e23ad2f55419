/** A value that follows what is typed when the typing pauses. */
import { useEffect, useState } from 'react';

const PAUSE_MS = 250;

export function useDelayed<T>(value: T): T {
  const [delayed, setDelayed] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDelayed(value), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return delayed;
}
