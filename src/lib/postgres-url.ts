/** URLs of PostgreSQL with one host or several, as libpq reads them; `URL` refuses the latter. */

const URL_PARTS = /^(postgres(?:ql)?:\/\/(?=\S)(?:[^\s/?#]*@)?)([^\s@/?#]*)([/?]\S*)?$/;
const MAX_HOSTS = 16;

/**
 * Returns a URL for each host, in their order: `postgres://u:p@a:1,b/db` becomes those of `a:1` and `b`. `undefined` if
 * the text is no URL of PostgreSQL, or has more than 16 hosts.
 */
export function postgresUrls(text: string): readonly string[] | undefined {
  const [, before, hosts = '', after = ''] = URL_PARTS.exec(text) ?? [];
  const list = hosts.split(',');
  if (before === undefined || list.length > MAX_HOSTS || (list.length > 1 && list.includes(''))) return undefined;
  const urls = list.map((host) => `${before}${host}${after}`);
  return urls.every((url) => URL.canParse(url)) ? urls : undefined;
}

/** Returns the URL without its password, and without its parameters, one of which may be the password. */
export function withoutPassword(text: string): string {
  const shown = (postgresUrls(text) ?? []).map((one) => {
    const url = new URL(one);
    url.password = '';
    url.search = '';
    return url;
  });
  const [first] = shown;
  if (first === undefined) return 'postgres://…';
  const hosts = shown.map(({ host }) => host).join(',');
  return first.href.replace(`//${credentialsOf(first)}${first.host}`, `//${credentialsOf(first)}${hosts}`);
}

function credentialsOf({ username }: URL): string {
  return username === '' ? '' : `${username}@`;
}
