/**
 * Chooses the connector of a message: the route with the longest prefix of its number, the first connector that is up.
 * Pure.
 */
import type { Lane } from '#db/tables/sms/claim.ts';

export interface Route {
  /** Digits with `+`; empty: all numbers. */
  readonly prefix: string;
  /** Connectors in order of preference. */
  readonly connectorIds: readonly number[];
}

export class RouteTable {
  readonly all: readonly Route[];
  readonly #byPrefix: ReadonlyMap<string, Route>;
  readonly #lengths: readonly number[];

  constructor(routes: readonly Route[]) {
    this.all = routes;
    this.#byPrefix = new Map(routes.map((route) => [route.prefix, route]));
    this.#lengths = [...new Set(routes.map(({ prefix }) => prefix.length))].sort((a, b) => b - a);
  }

  /** Returns `undefined` if no route matches. */
  find(e164: string): Route | undefined {
    for (const length of this.#lengths) {
      const route = this.#byPrefix.get(e164.slice(0, length));
      if (route !== undefined) return route;
    }
    return undefined;
  }

  /** Returns the position of the connector in the route, and how many the route has: 0 and 1 if the route is gone. */
  place(prefix: string, connectorId: number): { readonly position: number; readonly connectors: number } {
    const { connectorIds = [] } = this.#byPrefix.get(prefix) ?? {};
    return { position: Math.max(0, connectorIds.indexOf(connectorId)), connectors: Math.max(1, connectorIds.length) };
  }
}

/** Largest `integer` of PostgreSQL, more tries than a part ever has. */
const ANY_TRIES = 0x7fffffff;

/**
 * Returns the queues that a connector serves: parts that failed on the connectors before it, and parts of connectors
 * that are down. While none of the route is up, the messages wait. `maxTries`: tries of a part on each connector. The
 * last connector also serves parts with more tries, which stem from a longer route, and gives them one more try
 * (docs/decisions/0402).
 */
export function lanesOf(
  connectorId: number,
  routes: readonly Route[],
  isUp: (connectorId: number) => boolean,
  maxTries: number,
): readonly Lane[] {
  return routes.flatMap(({ prefix, connectorIds }) => {
    const served = connectorIds.flatMap((_, start) => {
      const active = connectorIds.find((id, position) => position >= start && isUp(id));
      return active === connectorId ? [start] : [];
    });
    const [first, last] = [served[0], served.at(-1)];
    if (first === undefined || last === undefined) return [];
    const isLast = last === connectorIds.length - 1;
    return [{ route: prefix, minTries: first * maxTries, maxTries: isLast ? ANY_TRIES : (last + 1) * maxTries - 1 }];
  });
}
