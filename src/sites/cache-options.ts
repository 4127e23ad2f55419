/** The cache options of a site that has chosen nothing; `edge/stages/plan-request.ts` puts a site's choices in their place. */
import type { CacheOptions } from '#http/options.ts';
import { DEFAULT_SETTINGS } from '#model/domain.ts';

export const DEFAULT_CACHE_OPTIONS: CacheOptions = {
  ...DEFAULT_SETTINGS.cache,
  maxVariants: 32,
  defaultLifetimes: new Map(),
  hasPolicies: false,
  policy: undefined,
};
