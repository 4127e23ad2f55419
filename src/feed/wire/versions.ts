/**
 * Versions of the feed: every request carries the range that the edge speaks, every answer the version that control
 * chose. Pure. docs/decisions/0590
 */

/** Header of requests (`1-2`, or a single number) and of answers (`2`). Absent: version 1. */
export const FEED_HEADER = 'causeway-feed';

export interface FeedVersions {
  readonly oldest: number;
  readonly newest: number;
}

/** Versions that this release speaks, as control and as edge. A release raises `newest` by one at most. */
export const FEED_VERSIONS: FeedVersions = { oldest: 1, newest: 2 };

/** Versions between machines: edges without views, files of snapshots and view keys are on control's own machine. */
export const FLEET_VERSIONS: FeedVersions = { oldest: 2, newest: 2 };

/** Releases before the header speak this version only. */
const BEFORE_HEADER: FeedVersions = { oldest: 1, newest: 1 };
const RANGE = /^([1-9]\d{0,3})(?:-([1-9]\d{0,3}))?$/;

export function formatVersions({ oldest, newest }: FeedVersions): string {
  return oldest === newest ? String(oldest) : `${oldest}-${newest}`;
}

/** Returns `undefined` if the header is not a range of versions. */
export function parseVersions(header: string | undefined): FeedVersions | undefined {
  if (header === undefined) return BEFORE_HEADER;
  const [, first, last = first] = RANGE.exec(header) ?? [];
  const versions = { oldest: Number(first), newest: Number(last) };
  return first !== undefined && versions.oldest <= versions.newest ? versions : undefined;
}

/** Returns the newest version that both speak; `undefined` if there is none. */
export function chooseVersion(theirs: FeedVersions, ours: FeedVersions): number | undefined {
  const newest = Math.min(theirs.newest, ours.newest);
  return newest >= Math.max(theirs.oldest, ours.oldest) ? newest : undefined;
}
