/** Addresses on lists that sites share. docs/decisions/0636 */
import type { CompileTools } from './compile-tools.ts';
import type { PackedAddresses } from './packed-addresses.ts';

export class ListedAddresses {
  readonly #keys: readonly string[];
  readonly #lists: readonly PackedAddresses[];
  readonly #deniesListed: boolean;

  /** `deniesListed`: clients on a list are refused; otherwise all others are. */
  constructor(keys: readonly string[], deniesListed: boolean, { addressList }: Pick<CompileTools, 'addressList'>) {
    this.#keys = keys;
    this.#lists = keys.map(addressList);
    this.#deniesListed = deniesListed;
  }

  denies(address: string | undefined): boolean {
    return this.#lists.some((list) => list.denies(address)) === this.#deniesListed;
  }

  uses(key: string): boolean {
    return this.#keys.includes(key);
  }
}
