/** Why an edge refuses a resource for name servers. */
import { GROUP_NAME, MAX_GROUPS } from '#model/edge-group.ts';
import type { ServingGroups } from '#model/serving-groups.ts';
import { MessageError, readEdgePlace, readMembers } from '../wire/messages.ts';

export function whyNoPlace(body: unknown): string | undefined {
  try {
    const members = readMembers('place', body);
    readEdgePlace(members);
    return isGroup(members['group']) ? undefined : 'group: expected the name of a group';
  } catch (error) {
    if (error instanceof MessageError) return error.message;
    throw error;
  }
}

export function whyNoServing(body: unknown): string | undefined {
  // `as`: an object's members are unknown values by their names.
  const { groups } = Object(body) as Record<keyof ServingGroups, unknown>;
  const isList = Array.isArray(groups) && groups.length <= MAX_GROUPS && groups.every(isGroup);
  return isList ? undefined : `groups: expected at most ${MAX_GROUPS} names of groups`;
}

function isGroup(value: unknown): boolean {
  return value === undefined || (typeof value === 'string' && GROUP_NAME.test(value));
}
