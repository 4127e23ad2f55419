/** Where menus and lists that float are put: in the page's main part, or in the dialog that they belong to. */
import { createContext, useContext, useEffect, useState } from 'react';

export const FloatingRoot = createContext<HTMLElement | null>(null);

export const MAIN_ID = 'main';

/** The element for menus and lists: within a landmark, so that screen readers that jump among landmarks find them. */
export function useFloatingRoot(): HTMLElement | null {
  const dialog = useContext(FloatingRoot);
  const [main, setMain] = useState<HTMLElement | null>(null);
  // What stands before it in the page is rendered before it is there.
  useEffect(() => setMain(document.getElementById(MAIN_ID)), []);
  return dialog ?? main;
}
