/** Keys of the whole page. */
import { useEffect, useRef } from 'react';

interface Key {
  readonly key: string;
  /** Ctrl, or ⌘ on machines that have it. Then the key works in fields too. */
  readonly isWithControl?: boolean;
}

export function useKey({ key, isWithControl = false }: Key, onPress: () => void): void {
  const latest = useRef(onPress);
  latest.current = onPress;
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const hasControl = event.ctrlKey || event.metaKey;
      if (event.key.toLowerCase() !== key.toLowerCase() || hasControl !== isWithControl || event.altKey) return;
      if (!isWithControl && isTyping(event.target)) return;
      event.preventDefault();
      event.stopPropagation(); // the focused control is not pressed
      latest.current();
    };
    addEventListener('keydown', listen, { capture: true });
    return () => removeEventListener('keydown', listen, { capture: true });
  }, [key, isWithControl]);
}

/** Letters are text there, or choose among what a list or a menu has. */
export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof Element &&
    target.closest('input:not([type=checkbox]), textarea, select, [role=listbox], [role=menu], [role=dialog]') !== null
  );
}
