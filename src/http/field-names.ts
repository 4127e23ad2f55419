/** Sets of field names for passes over header sections. */

/** Lengths of this value and more share a bit. */
const LONG = 31;

/**
 * A set that checks the length of a name first: most fields have another length and need no lower case. The few names
 * of the length are compared one by one, since looking up a new string in a `Set` internalizes it, which takes longer.
 */
export class FieldNames {
  /** The names by length. */
  readonly #names: string[][] = [];
  /** A bit for each length that occurs. */
  readonly #lengths: number;

  /** `names` are in lower case. */
  constructor(names: Iterable<string>) {
    let lengths = 0;
    for (const name of names) {
      while (this.#names.length <= name.length) this.#names.push([]);
      this.#names[name.length]?.push(name);
      lengths |= lengthBit(name);
    }
    this.#lengths = lengths;
  }

  /** Whether the set contains the name, case-insensitively. */
  has(name: string): boolean {
    if ((this.#lengths & lengthBit(name)) === 0) return false;
    const candidates = this.#names[name.length];
    return candidates?.includes(name.toLowerCase()) === true;
  }

  /** Returns a set with additional names. */
  with(...names: readonly string[]): FieldNames {
    return new FieldNames([...this.#names.flat(), ...names]);
  }
}

function lengthBit({ length }: string): number {
  return 1 << (length < LONG ? length : LONG);
}
