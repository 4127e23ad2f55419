/** What the fast path's reader and Node's parser take for the same heads, in turns; the parser makes strings of what it reads. */
import { createRequire } from 'node:module';
import { RequestHead, readHead } from '#edge/transport/http1/read-head.ts';

const ROUNDS = 300;
const HEADS_A_ROUND = 3_000;

const HEADS = {
  'of a browser': [
    'GET /assets/images/photo-1234.jpg?v=20 HTTP/1.1',
    'Host: www.example.com',
    'Connection: keep-alive',
    'sec-ch-ua-platform: "Linux"',
    'User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36',
    'sec-ch-ua-mobile: ?0',
    'Accept: image/avif,image/webp,image/apng,*/*;q=0.8',
    'Sec-Fetch-Site: same-origin',
    'Sec-Fetch-Mode: no-cors',
    'Sec-Fetch-Dest: image',
    'Referer: https://www.example.com/a/',
    'Accept-Encoding: gzip, deflate, br, zstd',
    'Accept-Language: de-DE,de;q=0.9',
  ],
  'of a program': [
    'GET /images/photo-1.jpg HTTP/1.1',
    'Host: www.example.com',
    'User-Agent: curl/8.11.0',
    'Accept: */*',
  ],
};

const head = new RequestHead();
const parser = openParser();
for (const [name, lines] of Object.entries(HEADS)) {
  const bytes = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
  const ways = {
    readHead: () => readHead(bytes, 0, bytes.length, head) === 'whole',
    'and its strings': () => readHead(bytes, 0, bytes.length, head) === 'whole' && head.rawHeaders(bytes).length > 0,
    "Node's parser": () => parser.execute(bytes) === bytes.length,
  };
  const rounds = Object.entries(ways).map(([way, run]) => ({ way, run, times: [] as number[] }));
  for (let round = 0; round < ROUNDS; round++) for (const { run, times } of rounds) times.push(nanosecondsOf(run));
  for (const { way, times } of rounds) {
    const sorted = times.sort((a, b) => a - b);
    const [least = 0, median = 0] = [sorted[0], sorted[ROUNDS >> 1]];
    console.log(
      `${bytes.length} bytes ${name}, ${way}: ${Math.round(least)} ns at least, median ${Math.round(median)}`,
    );
  }
}

function nanosecondsOf(run: () => boolean): number {
  const startedAt = process.hrtime.bigint();
  for (let i = 0; i < HEADS_A_ROUND; i++) if (!run()) throw new Error('not whole');
  return Number(process.hrtime.bigint() - startedAt) / HEADS_A_ROUND;
}

/** What node:http reads requests with; it has no public name. */
function openParser(): { execute(bytes: Buffer): number | Error } {
  // `as`: of this module only what is used here.
  const { HTTPParser } = createRequire(import.meta.url)('_http_common') as {
    HTTPParser: { new (): Parser; REQUEST: number; kOnHeadersComplete: number; kOnMessageComplete: number };
  };
  const opened = new HTTPParser();
  opened.initialize(HTTPParser.REQUEST, {});
  opened[HTTPParser.kOnHeadersComplete] = () => 0;
  opened[HTTPParser.kOnMessageComplete] = () => undefined;
  return opened;
}

interface Parser {
  [event: number]: () => unknown;
  initialize(type: number, resource: object): void;
  execute(bytes: Buffer): number | Error;
}
