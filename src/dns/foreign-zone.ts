/** Zones that anybody may register: `r.net`, the default of the routing zone for `mycdn.net`, is somebody else's. */
import { parse } from 'tldts';

/** Whether the zone lies directly below a public suffix, private ones (`github.io`) included. */
export function isOpenToRegistration(zone: string): boolean {
  const parent = zone.slice(zone.indexOf('.') + 1);
  const { publicSuffix, isIcann, isPrivate } = parse(parent, { allowPrivateDomains: true });
  return publicSuffix === parent && (isIcann === true || isPrivate === true);
}
