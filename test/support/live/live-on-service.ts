/** The whole service with a live domain, published to by scripted encoders with the keys that the interface gives out. */
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { createClient } from '#client/client.ts';
import type { Client } from '#client/transport.ts';
import { fetchFrom } from '../edge/edge.ts';
import { eventually } from '../eventually.ts';
import { type RunningService, startService, WITH_LIVE } from '../process/service.ts';
import { untilInForce } from '../process/service-with-domain.ts';
import { temporaryFolder } from '../temporary.ts';
import { aacHeader, avcHeader, frames } from './media-messages.ts';
import { RtmpClient } from './rtmp-client.ts';

export const LIVE_HOST = 'live.example.com';

interface LiveOnServiceOptions {
  /** Absent: a new one. */
  readonly dataDir?: string;
  /** Absent: SQLite in the data directory. */
  readonly databaseUrl?: string;
  readonly settings?: Readonly<Record<string, string>>;
}

export class LiveOnService {
  readonly service: RunningService;
  readonly client: Client;
  readonly stream: { account_id: string; domain_id: string; app_name: string; stream_name: string };

  private constructor(service: RunningService, client: Client, account_id: string, domain_id: string) {
    this.service = service;
    this.client = client;
    this.stream = { account_id, domain_id, app_name: 'live', stream_name: 'a' };
  }

  static async start(t: TestContext, options: LiveOnServiceOptions = {}): Promise<LiveOnService> {
    const { dataDir = join(temporaryFolder(t), 'data'), databaseUrl } = options;
    const service = await startService(t, {
      dataDir,
      settings: {
        ...WITH_LIVE,
        CAUSEWAY_LIVE_PUSH_AUTH: 'required',
        ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
        ...options.settings,
      },
    });
    const client = createClient({ baseUrl: service.controlUrl, accessToken: service.token });
    const { list } = await client.call('domain.list', {});
    const known = list.find(({ domain_name }) => domain_name === LIVE_HOST);
    const added = known ?? (await client.call('domain.add', { domain: LIVE_HOST, cdn_type: 4, data: '192.0.2.1' }));
    const { domain_id } = added;
    await untilInForce({ client, domain_id });
    const accounts = await client.call('operator.listAccounts', {});
    return new LiveOnService(service, client, accounts.list[0]?.account_id ?? '', domain_id);
  }

  get edgePort(): number {
    return Number(new URL(this.service.edgeUrl).port);
  }

  /** What is listed of the domain's streams, in order: `ONGOING`, or `READY ended`. */
  async isListed(...expected: readonly string[]): Promise<void> {
    await eventually(`it is listed as ${expected}`, async () => {
      const list = await this.client.call('live.streams', { domain: LIVE_HOST });
      const shown = list.map(({ status, endtime }) => `${status}${endtime > 0 ? ' ended' : ''}`);
      return shown.join() === expected.join();
    });
  }

  async open(): Promise<RtmpClient> {
    const port = Number(new URL(this.service.rtmpUrl).port);
    return await RtmpClient.openStream({ port, app: 'live', host: LIVE_HOST });
  }

  /** The stream's name with its key. */
  async streamKey(stream_name = 'a'): Promise<string> {
    const asked = { domain: LIVE_HOST, app_name: 'live', stream_name };
    const { publish } = await this.client.call('live.pushInfo', asked);
    return publish[0]?.stream_key ?? '';
  }

  /** What the publisher is told, and itself. The key that `pushInfo` makes first is in force soon, not at once. */
  async publish(name?: string): Promise<{ code: string; client: RtmpClient }> {
    const asked = name ?? (await this.streamKey());
    const client = await this.open();
    const { code } = await client.publish(asked);
    if (code.endsWith('.Start'))
      for (const message of [avcHeader(), aacHeader(), ...frames({ untilMs: 5_000 })]) client.send(message);
    return { code, client };
  }

  /** A publisher that is taken, if not at once. */
  async published(name?: string): Promise<RtmpClient> {
    return await eventually('a publisher is taken', async () => {
      const { code, client } = await this.publish(name);
      if (code === 'NetStream.Publish.Start') return client;
      await client[Symbol.asyncDispose]();
      return undefined;
    });
  }

  async playlist(): Promise<string | undefined> {
    const { status, body } = await fetchFrom(this.edgePort, '/live/a.m3u8', { host: LIVE_HOST });
    return status === 200 ? body : `${status}`;
  }

  /** Sum over all parts; 0: there is no such metric yet. `name`: with its labels, in any order among others. */
  async metric(name: string, label = ''): Promise<number> {
    const text = await (await fetch(this.service.metricsUrl)).text();
    const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`) && line.includes(label));
    return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  }

  /** Stops it in order. Returns what it logged of it that an operator would look into. */
  async stop(): Promise<string[]> {
    const before = this.service.process.stderr().length;
    await this.service.stop();
    const lines = this.service.process.stderr().slice(before).split('\n');
    return lines.filter((line) => /"level":"(?:warn|error|fatal)"/.test(line));
  }
}
