/** Thrown if there is no room for a request now: 503. The edge sends it again later. */
export class CrowdedError extends Error {}
