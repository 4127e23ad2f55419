/** Fields that name edges and their groups. */
import { GROUP_NAME, MAX_GROUP_CHARS } from '../model/edge-group.ts';
import { EDGE_ID } from '../model/fleet.ts';
import { type Field, text } from './fields.ts';

/** A text of at most `max` characters that matches `pattern`. */
export function textOf(pattern: RegExp, max: number, expects: Field['expects']) {
  return {
    schema: text({ max }).schema.refine((value) => pattern.test(value)),
    expects,
    json: { type: ['string', 'number'], pattern: pattern.source },
  } satisfies Field;
}

export const edgeId = textOf(EDGE_ID, 63, {
  'zh-CN': '节点名称：1 到 63 个字母、数字、点、下划线和连字符，以字母或数字开头和结尾',
  en: 'the id of an edge: 1 to 63 letters, digits, dots, underscores and hyphens, with a letter or a digit at both ends',
});

export const groupName = textOf(GROUP_NAME, MAX_GROUP_CHARS, {
  'zh-CN': `节点组名称：1 到 ${MAX_GROUP_CHARS} 个小写字母、数字和连字符，以字母或数字开头和结尾`,
  en: `the name of an edge group: 1 to ${MAX_GROUP_CHARS} lower-case letters, digits and hyphens, with a letter or a digit at both ends`,
});
