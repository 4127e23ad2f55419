/** Components whose code is loaded when they are first rendered: what a page does not need before it is opened. */
import { type ComponentType, lazy } from 'react';

export function lazily<P>(load: () => Promise<ComponentType<P>>) {
  return lazy(async () => {
    try {
      return { default: await load() };
    } catch (cause) {
      throw new NotLoaded('a file of the console was not loaded', { cause });
    }
  });
}

/**
 * The file with a component's code was not loaded: there is no connection, or a newer build has replaced it. Only a new page
 * helps: browsers and Vite remember which scripts and style sheets have failed.
 */
export class NotLoaded extends Error {
  override readonly name = 'NotLoaded';
}
