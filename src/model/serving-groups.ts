/** Which groups serve which domains, as name servers know it by the feed. */

/** Kind of these resources (`ServingGroups`): one for each domain with groups of its own, keyed by the domain's id. */
export const SERVING_KIND = 'serving';
/** Key of the resource with the default groups, which serve all other domains. */
export const DEFAULT_SERVING = 'default';

export interface ServingGroups {
  readonly groups: readonly string[];
}
