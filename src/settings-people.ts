/** Settings of people who sign in. */
import { listOf, mapped, serverUrl, textThat, urlThat } from '#lib/setting-reader.ts';
import type { ConfigTable } from '#lib/settings.ts';
import { type GroupRole, ROLES } from '#model/person.ts';

const visible = textThat('1 to 512 visible characters', /^[\x21-\x7e]{1,512}$/);

export const PEOPLE_SETTINGS = {
  consoleUrl: {
    reader: serverUrl(),
    description:
      'URL at which people open the console, without a path: passkeys belong to its host; by default `http://localhost` with the port of control-listen',
  },
  oidcIssuer: {
    reader: urlThat(
      'an https:// URL without a query, or http:// on this machine',
      /^(?:https:\/\/[^\s?#@]+|http:\/\/(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?(?:\/[^\s?#@]*)?)$/,
    ),
    description: 'Issuer of the OpenID Connect provider that people may sign in by; by default there is none',
  },
  oidcClientId: { reader: visible, description: 'Id by which the provider knows the console' },
  oidcClientSecret: {
    reader: visible,
    secret: true,
    description: 'Secret of the console at the provider; by default it has none',
  },
  oidcGroups: {
    reader: listOf(mapped('group=account:role, such as staff=2:editor', readGroupRole), 0, 100),
    default: '',
    description: 'Roles that groups of the provider (claim `groups`) give in accounts',
  },
} satisfies ConfigTable;

function readGroupRole(given: string): GroupRole | undefined {
  const [, group = '', account, word] = /^([^=]{1,200})=(\d{1,10}):([a-z]+)$/.exec(given) ?? [];
  const role = ROLES.find((one) => one === word);
  return role === undefined ? undefined : { group, accountId: Number(account), role };
}
