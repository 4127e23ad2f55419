/**
 * An OpenID Connect provider of its own process. The name typed there says what it knows of a person: `KIND:ADDRESS`, where
 * KIND is `verified`, `unverified`, or the name of a group whose members have verified addresses. `/move?login=…&group=…`
 * puts somebody into another group. Prints its issuer.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
// @ts-expect-error: it has no types
import Provider from 'oidc-provider';

const [, , clientId = '', clientSecret = ''] = process.argv;

const server = createServer();
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        // Ports of native applications on this machine are not compared. RFC 8252 §7.3
        application_type: 'native',
        redirect_uris: ['http://localhost/console/provider'],
        response_types: ['code'],
        grant_types: ['authorization_code'],
      },
    ],
    pkce: { required: () => true },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
    findAccount: (_: unknown, login: string) => ({ accountId: login, claims: () => claimsOf(login) }),
  });
  const answer = provider.callback();
  server.on('request', (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', issuer);
    if (pathname !== '/move') return answer(request, response);
    moved.set(String(searchParams.get('login')), String(searchParams.get('group')));
    response.end();
  });
  process.stdout.write(`${issuer}\n`);
});

const moved = new Map<string, string>();

function claimsOf(login: string) {
  const [kind = '', email = ''] = login.split(':');
  return {
    sub: login,
    email,
    email_verified: kind !== 'unverified',
    name: `the one of ${kind}`,
    groups: [moved.get(login) ?? kind],
  };
}
