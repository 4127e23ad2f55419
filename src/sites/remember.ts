/** What was made of texts that come again, within bounds. */

/** Longer texts are read anew each time: they would fill the memory, and seldom come again. */
const MAX_TEXT_CHARS = 256;

/**
 * The same function, which remembers. `make` is pure. A use must cost one look-up, so nothing is put in the order of use: there
 * are two generations of at most `max` texts each, and what the younger has not used is forgotten with the older.
 */
export function remember<T>(make: (text: string) => T, max: number): (text: string) => T {
  let young = new Map<string, { readonly made: T }>();
  let old = young;
  return (text) => {
    const known = young.get(text);
    if (known !== undefined) return known.made;
    const found = old.get(text) ?? { made: make(text) };
    if (text.length > MAX_TEXT_CHARS) return found.made;
    if (young.size >= max) {
      old = young;
      young = new Map();
    }
    young.set(text, found);
    return found.made;
  };
}
