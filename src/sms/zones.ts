/** A cache of the clocks of time zones that customers name. */
import { createLocalTime, type LocalTime } from '#lib/local-time.ts';
import { Lru } from '#lib/lru.ts';

const MAX_ZONES = 100;

export class Zones {
  readonly #known = new Lru<string, LocalTime>({ maxWeight: MAX_ZONES });

  get(timeZone: string): LocalTime {
    const known = this.#known.get(timeZone);
    if (known !== undefined) return known;
    const local = createLocalTime(timeZone);
    this.#known.set(timeZone, local);
    return local;
  }
}
