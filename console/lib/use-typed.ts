/** A field whose value is taken when the typing pauses, and at once when it is cleared. */
import { type ChangeEvent, useEffect, useRef, useState } from 'react';

const PAUSE_MS = 250;

export function useTyped(value: string, onPause: (typed: string) => void) {
  const [typed, setTyped] = useState(value);
  const [known, setKnown] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // The value was changed elsewhere: by the browser's back button, by a link.
  if (value !== known) {
    setKnown(value);
    setTyped(value);
  }
  // What else was chosen during the pause must not be undone by what was there when the typing ended.
  const latest = useRef({ value, onPause });
  useEffect(() => {
    latest.current = { value, onPause };
  });
  const take = (text: string) => {
    clearTimeout(timer.current);
    setKnown(text);
    if (text !== latest.current.value) latest.current.onPause(text);
  };
  return {
    value: typed,
    onChange: ({ target }: ChangeEvent<HTMLInputElement>) => {
      setTyped(target.value);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => take(target.value), target.value === '' ? 0 : PAUSE_MS);
    },
  };
}
