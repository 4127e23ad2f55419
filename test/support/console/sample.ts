/**
 * A console over an account as customers have it: domains, a month of traffic that is the same by its numbers each time, a
 * certificate, tasks, changes. For pictures, and for looking at pages.
 */
import { request } from 'node:http';
import { join } from 'node:path';
import { openDatabase } from '#db/open.ts';
import { addAccountSums } from '#db/tables/account-sums.ts';
import { addSums, addTop, type Grain, type SumRow } from '#db/tables/statistics.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#lib/durations.ts';
import { createLogger } from '#lib/logger.ts';
import { createAuthority } from '../certificates/certificate.ts';
import { startOrigin } from '../edge/origin.ts';
import { eventually } from '../eventually.ts';
import { startService } from '../process/service.ts';
import { type Cleanup, temporaryFolder } from '../temporary.ts';
import { startConsole, type TestConsole } from './browser.ts';
import { clientOf } from './signed-in.ts';

/** Type, and requests a minute at an average time of the day. */
const DOMAINS: readonly (readonly [name: string, type: '1' | '2' | '3' | '6', perMinute: number, remark: string])[] = [
  ['www.example.com', '1', 5200, 'shop'],
  ['img.example.com', '1', 9100, ''],
  ['download.example.com', '2', 240, 'releases'],
  ['video.example.com', '3', 1300, ''],
  ['api.example.com', '6', 2100, ''],
  ['*.shop.example.net', '1', 60, 'shops of resellers'],
];

const BYTES_A_REQUEST: Readonly<Record<string, number>> = { '1': 24_000, '2': 3_200_000, '3': 410_000, '6': 1800 };

const TOP: Readonly<Record<'url' | 'referer' | 'client' | 'status', readonly string[]>> = {
  url: ['/', '/assets/app.js', '/assets/app.css', '/img/logo.svg', '/products', '/favicon.ico'],
  referer: ['https://www.example.com/', 'https://search.example.org/', 'https://news.example.org/today'],
  client: ['198.51.100.17', '203.0.113.99', '2001:db8::17'],
  status: ['200', '304', '404', '206', '502'],
};

export interface SampleConsole extends TestConsole {
  /** Ids of the domains by their names. */
  readonly ids: ReadonlyMap<string, string>;
  /** Address of the origin that all of them have. */
  readonly originAddress: string;
  /** A viewer's request for a path of the first domain. */
  get(path: string): Promise<void>;
}

/** The calling test declares `needs('chromium', 'openssl')`. */
export async function startSample(t: Cleanup): Promise<SampleConsole> {
  const origin = await startOrigin(t, ({ target }, response) => {
    const status = target.startsWith('/missing') ? 404 : 200;
    response.writeHead(status, { 'cache-control': 'max-age=600', 'content-type': 'text/plain' });
    response.end('x'.repeat(4000));
  });
  const settings = {
    CAUSEWAY_ORIGIN_ALLOW: '127.0.0.0/8',
    CAUSEWAY_CNAME_SUFFIX: 'cdn.example.org',
    CAUSEWAY_TIME_ZONE: 'UTC',
    CAUSEWAY_SMS_CURRENCY: 'CNY/1000',
    CAUSEWAY_STAT_SECONDS: '1',
    CAUSEWAY_LOG_ROTATE_SECONDS: '1',
  };
  const dataDir = join(temporaryFolder(t), 'data');
  const first = await startService(t, { settings, dataDir });
  const originAddress = `127.0.0.1:${origin.port}`;
  const ids = await addDomains(clientOf({ service: first }), originAddress);
  await first.stop();
  await seedTraffic(dataDir, ids);
  const console = await startConsole(t, { settings, dataDir });
  const get = (path: string) => getFromEdge(console.service.edgeUrl, path);
  await eventually('the edge serves', async () => (await get('/')) === 200);
  await changeAsCustomersDo(t, console, ids);
  await sendMessages(console);
  return { ...console, ids, originAddress, get: async (path) => void (await get(path)) };
}

async function addDomains(client: ReturnType<typeof clientOf>, origin: string): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>();
  for (const [domain, cdn_type, , remark] of DOMAINS) {
    const { domain_id } = await client.call('domain.add', { domain, cdn_type, data: [origin], remark });
    ids.set(domain, domain_id);
  }
  return ids;
}

/** Some changes, a certificate, tasks: what the lists of the console have. */
async function changeAsCustomersDo(t: Cleanup, console: TestConsole, ids: ReadonlyMap<string, string>) {
  const client = clientOf(console);
  const domain_id = ids.get('www.example.com') ?? '';
  const { cert, key } = createAuthority(t).issue(['www.example.com', 'example.com'], { days: 90 });
  const { ssl_key } = await client.call('certificate.add', {
    ssl_title: 'example.com',
    certificate: cert,
    private_key: key,
  });
  await client.call('domain.change', { domain_id, set: { ssl: { ssl_control: 1, ssl_key } } });
  await client.call('domain.change', { domain_id, set: { advanced: { page_compress: 1 } } });
  await client.call('domain.change', {
    domain_id,
    set: { cache: { stale_cap: 259_200 }, ua: { ua_control: 1, ua_str: 'badbot' } },
  });
  await client.call('cache.purge', {
    urls: ['http://www.example.com/assets/app.js', 'http://www.example.com/assets/app.css'],
  });
}

/** An SMS service with a price, and messages that no phone gets: there is no carrier. */
async function sendMessages(console: TestConsole): Promise<void> {
  const client = clientOf(console);
  await client.call('smsOperator.setPrice', { kind: 'ordinary', prefix: '', price: 45 });
  const { app_key } = await client.call('smsOperator.createApp', { name: 'shop', balance: 500_000 });
  for (const [n, mobile] of ['13800138000', '13900139000', '13700137000'].entries())
    await client.call('sms.ordinary', {
      app_key,
      mobile,
      content: `您的验证码是 ${123_456 + n}。`,
      time: String(Date.now()),
    });
}

async function seedTraffic(dataDir: string, ids: ReadonlyMap<string, string>): Promise<void> {
  const log = createLogger({ level: 'silent', name: 'sample' });
  await using db = await openDatabase({ file: join(dataDir, 'causeway.db'), log });
  const now = Date.now();
  const rows = DOMAINS.flatMap(([name, type, perMinute], rank) => {
    const sample = { domainId: Number(ids.get(name)), type, perMinute, rank };
    return [
      ...rowsOf(sample, 'minute', MINUTE_MS, now - DAY_MS, now),
      ...rowsOf(sample, 'hour', HOUR_MS, now - 8 * DAY_MS, now),
      ...rowsOf(sample, 'day', DAY_MS, now - 31 * DAY_MS, now),
    ];
  });
  await db.transaction(async (trx) => {
    await addSums(trx, rows);
    await addAccountSums(trx, rows);
    for (const [rank, [name]] of DOMAINS.entries())
      for (const [kind, values] of Object.entries(TOP))
        for (let hour = 0; hour < 24; hour += 1) {
          const place = { domainId: Number(ids.get(name)), at: startOf(now, HOUR_MS) - hour * HOUR_MS, kind };
          const top = values.map((value, n) => ({
            value,
            requests: Math.round(9000 / (n + 1) / (rank + 1)),
            bytes: Math.round(2e8 / (n + 1) / (rank + 1)),
          }));
          await addTop(trx, place as Parameters<typeof addTop>[1], top, 100); // the kinds of the table
        }
  });
}

interface SampleDomain {
  readonly domainId: number;
  readonly type: string;
  readonly perMinute: number;
  readonly rank: number;
}

function rowsOf(sample: SampleDomain, grain: Grain, lengthMs: number, from: number, to: number): SumRow[] {
  const rows: SumRow[] = [];
  for (let at = startOf(from, lengthMs); at < to; at += lengthMs)
    rows.push({ domain_id: sample.domainId, grain, at, ...sumsAt(sample, at, lengthMs) });
  return rows;
}

/** More in the evening than at night, with a ripple, and once an origin that was down for some minutes. */
function sumsAt({ type, perMinute, rank }: SampleDomain, at: number, lengthMs: number) {
  const hour = (at % DAY_MS) / HOUR_MS;
  const wave = 1 + 0.55 * Math.sin(((hour - 7) / 24) * 2 * Math.PI) + 0.06 * Math.sin(at / MINUTE_MS / 7 + rank);
  const requests = Math.round((perMinute * wave * lengthMs) / MINUTE_MS);
  const hits = Math.round(requests * (type === '6' ? 0.31 : 0.94 + 0.03 * Math.sin(hour)));
  const bytes = Math.round(requests * (BYTES_A_REQUEST[type] ?? 0));
  const isDown = rank === 0 && Math.floor(hour) === 9 && lengthMs !== DAY_MS;
  const errors = Math.round(requests * (isDown ? 0.04 : 0.0004));
  const missing = Math.round(requests * 0.011);
  const unchanged = Math.round(requests * 0.08);
  return {
    requests,
    hits,
    bytes_in: requests * 480,
    bytes_out: bytes,
    bytes_origin: Math.round((bytes * (requests - hits)) / Math.max(requests, 1)),
    hit_bytes: Math.round((bytes * hits) / Math.max(requests, 1)),
    status_2xx: requests - errors - missing - unchanged,
    status_3xx: unchanged,
    status_4xx: missing,
    status_5xx: errors,
  };
}

function startOf(at: number, lengthMs: number): number {
  return Math.floor(at / lengthMs) * lengthMs;
}

function getFromEdge(edgeUrl: string, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    request(edgeUrl + path, { headers: { host: 'www.example.com' } }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    })
      .on('error', reject)
      .end();
  });
}
