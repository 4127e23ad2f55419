/** How soon a forbidden stream is cut: its publisher, which ignores that the server has ended its side, and a viewer at the edge. */
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { createClient } from '#client/client.ts';
import { eventually } from '../../test/support/eventually.ts';
import { freePort } from '../../test/support/free-port.ts';
import { aacHeader, avcHeader, frames } from '../../test/support/live/media-messages.ts';
import { RtmpClient } from '../../test/support/live/rtmp-client.ts';
import { startService } from './service.ts';

const HOST = 'live.example.com';

/** Milliseconds from the operator's call, one of each for every time. */
export interface ForbidTimes {
  /** The call is answered. */
  readonly answered: number[];
  /** The publisher reads the end of the stream. */
  readonly publisherEnded: number[];
  /** The publisher's socket is reset. */
  readonly publisherReset: number[];
  /** The viewer's answer is cut. */
  readonly viewerCut: number[];
}

/** Forbids a stream that is on air and watched, resumes it, and begins anew, `times` times. */
export async function measureForbid(folder: string, times: number): Promise<ForbidTimes> {
  const dataDir = join(folder, 'whole');
  const rtmpPort = await freePort();
  await using service = await startService(dataDir, { CAUSEWAY_RTMP_LISTEN: `127.0.0.1:${rtmpPort}` });
  const accessToken = readFileSync(join(dataDir, 'first-token'), 'utf8').trim();
  const client = createClient({ baseUrl: service.controlUrl, accessToken });
  const { domain_id } = await client.call('domain.add', { domain: HOST, cdn_type: '4' });
  await eventually('it is in force', async () => (await client.call('domain.get', { domain_id })).domain_status === 2);
  const [account] = (await client.call('operator.listAccounts', {})).list;
  const stream = { account_id: account?.account_id ?? '', domain_id, app_name: 'live', stream_name: 's' };
  const figures: ForbidTimes = { answered: [], publisherEnded: [], publisherReset: [], viewerCut: [] };
  for (let n = 0; n < times; n++) {
    const publisher = await RtmpClient.openStream({ port: rtmpPort, app: 'live', host: HOST });
    await publisher.publish('s');
    for (const message of [avcHeader(), aacHeader(), ...frames({ untilMs: 5_000 })]) publisher.send(message);
    const going = setInterval(
      () => publisher.send({ kind: 'audio', timestampMs: 6_000, data: Buffer.from([0xaf, 1, 0]) }),
      20,
    );
    const viewer = await watch(service.edgePort);
    const startedAt = performance.now();
    const since = () => performance.now() - startedAt;
    const seen = Promise.all([
      viewer.cut.then(() => figures.viewerCut.push(since())),
      until(publisher, 'end').then(() => figures.publisherEnded.push(since())),
      until(publisher, 'close').then(() => figures.publisherReset.push(since())),
    ]);
    await client.call('liveOperator.forbid', stream);
    figures.answered.push(since());
    await seen;
    clearInterval(going);
    await client.call('liveOperator.resume', stream);
  }
  return figures;
}

function until({ socket }: RtmpClient, event: 'end' | 'close'): Promise<void> {
  return new Promise((resolve) => socket.once(event, () => resolve()));
}

/** Resolves when media has come. */
async function watch(port: number): Promise<{ readonly cut: Promise<void> }> {
  const cut = Promise.withResolvers<void>();
  const began = Promise.withResolvers<void>();
  const attempt = () => {
    const asked = request({ port, host: '127.0.0.1', path: '/live/s.flv', headers: { host: HOST } }, (answer) => {
      if (answer.statusCode !== 200) {
        answer.resume();
        setTimeout(attempt, 20);
        return;
      }
      answer.on('data', () => began.resolve());
      answer.on('error', () => undefined).on('close', () => cut.resolve());
    });
    asked.on('error', began.reject).end();
  };
  attempt();
  await began.promise;
  return { cut: cut.promise };
}
