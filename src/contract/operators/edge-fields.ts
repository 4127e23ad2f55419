/** Fields that name edges and their groups. */
import { GROUP_NAME, MAX_GROUP_CHARS } from '../../model/edge-group.ts';
import { EDGE_ID } from '../../model/fleet.ts';
import { clearable, matching } from '../schema/fields.ts';

export const edgeId = matching(EDGE_ID, {
  'zh-CN': '节点名称：1 到 63 个字母、数字、点、下划线和连字符，以字母或数字开头和结尾',
  en: 'the id of an edge: 1 to 63 letters, digits, dots, underscores and hyphens, with a letter or a digit at both ends',
});

export const groupName = matching(GROUP_NAME, {
  'zh-CN': `节点组名称：1 到 ${MAX_GROUP_CHARS} 个小写字母、数字和连字符，以字母或数字开头和结尾`,
  en: `the name of an edge group: 1 to ${MAX_GROUP_CHARS} lower-case letters, digits and hyphens, with a letter or a digit at both ends`,
});

/** Group that the edges of a group fetch through. */
export const parentGroup = clearable(
  matching(new RegExp(`^(?:${GROUP_NAME.source.slice(1, -1)})?$`), {
    'zh-CN': '另一个节点组的名称；空：直接回源；不传：不变',
    en: 'the name of another edge group; empty: its edges fetch from origins; absent: unchanged',
  }),
);
