/** Where viewers reach an edge: what DNS hands out of it. Reported by the edge, and published by control. */

/** Kind of these resources (`PublishedPlace`), keyed by the edge's id. */
export const PLACE_KIND = 'edge_place';

/** Addresses of one edge. */
export const MAX_EDGE_ADDRESSES = 8;
export const MAX_EDGE_WEIGHT = 100;

/** Degrees; north and east are positive. */
export interface Coordinates {
  readonly latitude: number;
  readonly longitude: number;
}

export interface EdgePlace {
  /** IP addresses in canonical form. */
  readonly addresses: readonly string[];
  /** Port of HTTP, on which probes ask for the health page. */
  readonly port: number;
  /** Absent: not known. */
  readonly coordinates?: Coordinates;
  /** Share of viewers beside other edges, 0 to 100. 0: none. */
  readonly weight: number;
}

export interface PublishedPlace extends EdgePlace {
  /** Absent for an edge of a control's machine, which serves every domain. */
  readonly group?: string;
}

/** Parses `52.52,13.40`; `undefined` if the text is not a latitude and a longitude. */
export function parseCoordinates(text: string): Coordinates | undefined {
  const [, north, east] = /^(-?\d{1,2}(?:\.\d{1,6})?),\s?(-?\d{1,3}(?:\.\d{1,6})?)$/.exec(text) ?? [];
  const coordinates = { latitude: Number(north), longitude: Number(east) };
  return isCoordinates(coordinates) ? coordinates : undefined;
}

export function isCoordinates(value: unknown): value is Coordinates {
  // `as`: an object's members are unknown values by their names; each is checked.
  const { latitude, longitude } = Object(value) as Record<keyof Coordinates, unknown>;
  return isWithin(latitude, 90) && isWithin(longitude, 180);
}

function isWithin(value: unknown, limit: number): boolean {
  return typeof value === 'number' && Math.abs(value) <= limit;
}
