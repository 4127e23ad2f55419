/**
 * Settings to begin with, by what a domain delivers. None overrides what an origin says of the lifetime of its content, but for
 * segments of videos, which never change. Pure.
 */

interface PresetSetting {
  /** `advanced.page_compress`, as `domain.revert` names it. */
  readonly id: string;
  /** What a domain has on which nothing was set; a test compares it. */
  readonly before: unknown;
  readonly after: unknown;
}

const HOUR_SECONDS = 3600;
const DAY_SECONDS = 24 * HOUR_SECONDS;

const COMPRESS: PresetSetting = { id: 'advanced.page_compress', before: '0', after: '1' };
const SLICES: PresetSetting = { id: 'advanced.range_back_source', before: '0', after: '1' };

export const PRESETS = {
  website: [COMPRESS, staleFor(3 * DAY_SECONDS)],
  downloads: [SLICES, staleFor(7 * DAY_SECONDS)],
  video: [
    SLICES,
    {
      id: 'policies.policy',
      before: [],
      after: (['http', 'https'] as const).map((policy_scheme) => ({
        ...{ is_cache: '1', priority: 1, policy_type: 'suffix', policy_scheme, content: 'm4s,ts' },
        ...{ time_y: 0, time_d: 30, time_h: 0, time_i: 0, time_s: 0 },
      })),
    },
  ],
  api: [COMPRESS, { id: 'cache.heuristic_cap', before: String(HOUR_SECONDS), after: '0' }, staleFor(0)],
} as const satisfies Readonly<Record<string, readonly PresetSetting[]>>;

export type PresetName = keyof typeof PRESETS;
export const PRESET_NAMES = Object.keys(PRESETS) as readonly PresetName[]; // of a table whose names are closed

/** The preset that suits a code of `cdn_type`; empty: none does. */
export function presetOf(type: string): PresetName | '' {
  const suiting: Readonly<Record<string, PresetName>> = { '1': 'website', '2': 'downloads', '3': 'video', '6': 'api' };
  return suiting[type] ?? '';
}

/** What `domain.add` is to set. */
export function presetSet(name: PresetName | '') {
  const settings: readonly PresetSetting[] = name === '' ? [] : PRESETS[name];
  const topics = Map.groupBy(settings, ({ id }) => id.replace(/\..*/, ''));
  const set = [...topics].map(([topic, all]) => [
    topic,
    Object.fromEntries(all.map(({ id, after }) => [id.replace(/^.*\./, ''), after])),
  ]);
  return Object.fromEntries(set);
}

function staleFor(seconds: number): PresetSetting {
  return { id: 'cache.stale_cap', before: String(DAY_SECONDS), after: String(seconds) };
}
