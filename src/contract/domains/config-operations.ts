/** What the `/config/*` operations take and give. */
import { changesSettings, readsSettings } from '../settings/domain-settings.ts';
import { WIRE_CACHE_SETTINGS } from '../settings/settings.ts';

export const CONFIG_OPERATIONS = {
  'config.setCacheOptions': changesSettings(
    { 'zh-CN': '设置缓存选项', en: "Sets a domain's cache options" },
    WIRE_CACHE_SETTINGS.optionalFields,
    { set_cookie: 'strip', heuristic_cap: 600 },
  ),
  'config.getCacheOptions': readsSettings(
    { 'zh-CN': '查询缓存选项', en: "Gets a domain's cache options" },
    WIRE_CACHE_SETTINGS.data,
    WIRE_CACHE_SETTINGS.sampleData,
  ),
};
