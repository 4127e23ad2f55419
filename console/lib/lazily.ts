/** Components whose code is loaded when they are first rendered: what a page does not need before it is opened. */
import { type ComponentType, lazy } from 'react';

export function lazily<P>(load: () => Promise<ComponentType<P>>) {
  return lazy(async () => ({ default: await load() }));
}
