/** Viewers who ask for one URL after another: by wrk over HTTP/1.1, with or without TLS, and by h2load over HTTP/2. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createRandom } from './zipf.ts';

export type Viewers = 'http' | 'tls' | 'h2';

export type Urls =
  /** The same thousand again and again, or each only once in a bench. */
  | { readonly kind: 'few' | 'new'; readonly prefix: string }
  /** Numbers from 0 to `count`, number `n` with a probability of about 1/n (Zipf's law). Another seed, other requests. */
  | { readonly kind: 'zipf'; readonly prefix: string; readonly count: number; readonly seed: number };

export interface MissLoad {
  readonly folder: string;
  readonly viewers: Viewers;
  readonly port: number;
  readonly urls: Urls;
  readonly seconds: number;
  /** Requests a second in all. Absent: as fast as answers arrive. */
  readonly perSecond: number | undefined;
}

export interface LoadResult {
  readonly answers: number;
  readonly perSecond: number;
}

/** The name that wrk resolves and offers as server name. */
export const TLS_HOST = 'localhost';
export const HTTP2_HOST = 'site-1.example.com';
const CONNECTIONS = 50;
const DOMAINS_ASKED = 100;
const FEW = 1_000;
/** More than any server answers in a round. */
const HTTP2_URLS_PER_SECOND = 40_000;
const AGENT = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';
const REFERER = 'https://www.example.org/list?page=1';

/** Warns where an answer was no success. */
export async function runLoad(load: MissLoad): Promise<LoadResult> {
  return load.viewers === 'h2' ? await runH2load(load) : await runWrk(load);
}

async function runWrk({ folder, viewers, port, urls, seconds, perSecond }: MissLoad): Promise<LoadResult> {
  const script = join(folder, 'urls.lua');
  // A pause before each request; what the answer takes is not taken off.
  const pauseMs = perSecond === undefined ? 0 : (CONNECTIONS / perSecond) * 1000;
  writeFileSync(
    script,
    `local n = 0
     ${urls.kind === 'zipf' ? `math.randomseed(${urls.seed})` : ''}
     request = function()
       n = n + 1
       return wrk.format("GET", "${urls.prefix}" .. ${luaNumber(urls)}, {
         Host = "site-" .. (1 + n % ${DOMAINS_ASKED}) .. ".example.com",
         Referer = "${REFERER}", ["User-Agent"] = "${AGENT}"
       })
     end
     ${perSecond === undefined ? '' : `delay = function() return math.random(0, ${Math.round(2 * pauseMs)}) end`}`,
  );
  const url = viewers === 'tls' ? `https://${TLS_HOST}:${port}/` : `http://127.0.0.1:${port}/`;
  const args = ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '-s', script, url];
  const { stdout } = await promisify(execFile)('wrk', args);
  const failed = /Non-2xx or 3xx responses: (\d+)/.exec(stdout)?.[1] ?? '0';
  if (failed !== '0' || stdout.includes('Socket errors')) console.warn(stdout);
  const answers = Number(/(\d+) requests in/.exec(stdout)?.[1]);
  return { answers, perSecond: Number(/Requests\/sec: +([\d.]+)/.exec(stdout)?.[1]) };
}

/** A Lua expression for the number of the URL; `n` is the number of the request. */
function luaNumber(urls: Urls): string {
  switch (urls.kind) {
    case 'few':
      return `n % ${FEW}`;
    case 'new':
      return 'n';
    case 'zipf':
      return `math.floor(${urls.count} ^ math.random())`;
  }
}

/** One connection: each connection of h2load begins with the first URL of the list. */
async function runH2load({ folder, port, urls, seconds, perSecond }: MissLoad): Promise<LoadResult> {
  const list = join(folder, 'urls.txt');
  const random = createRandom(urls.kind === 'zipf' ? urls.seed : 0);
  const lines = Array.from({ length: seconds * HTTP2_URLS_PER_SECOND }, (_, index) => {
    const number =
      urls.kind === 'zipf' ? Math.floor(urls.count ** random()) : urls.kind === 'few' ? index % FEW : index;
    return `https://${HTTP2_HOST}:${port}${urls.prefix}${number}`;
  });
  writeFileSync(list, lines.join('\n'));
  const fields = ['-H', `Referer: ${REFERER}`, '-H', `User-Agent: ${AGENT}`];
  const pace = perSecond === undefined ? [] : [`--rps=${Math.round(perSecond)}`];
  const args = ['-c', '1', '-m', String(CONNECTIONS), '-D', String(seconds), '-i', list, ...fields, ...pace];
  const { stdout } = await promisify(execFile)('h2load', [...args, `--connect-to=127.0.0.1:${port}`], {
    encoding: 'utf8',
    maxBuffer: 16 * 1024 * 1024,
  });
  if (!/ 0 failed, 0 errored, 0 timeout/.test(stdout)) console.warn(/^requests:.*$/m.exec(stdout)?.[0]);
  const answers = Number(/(\d+) 2xx/.exec(stdout)?.[1]);
  return { answers, perSecond: answers / seconds };
}
