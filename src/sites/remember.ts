/** What was made of texts that come again, within bounds. */
import { Generations } from '#lib/generations.ts';

/** Longer texts are read anew each time: they would fill the memory, and seldom come again. */
const MAX_TEXT_CHARS = 256;

/** The same function, which remembers at most twice `max` texts. `make` is pure. */
export function remember<T>(make: (text: string) => T, max: number): (text: string) => T {
  const texts = new Generations<string, { readonly made: T }>({ maxWeight: () => 2 * max });
  return (text) => {
    const known = texts.get(text);
    if (known !== undefined) return known.made;
    const made = make(text);
    if (text.length <= MAX_TEXT_CHARS) texts.set(text, { made });
    return made;
  };
}
