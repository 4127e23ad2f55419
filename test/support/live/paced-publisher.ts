/** Publishes messages over RTMP at the pace of their timestamps, as an encoder does. */
import type { MediaMessage } from '#fanout/media/message.ts';
import type { Cleanup } from '../temporary.ts';
import { RtmpClient } from './rtmp-client.ts';

const TURN_MS = 10;

export interface PacedPublish {
  readonly port: number;
  readonly app: string;
  /** Stream name with its query. */
  readonly stream: string;
  /** May never end. */
  readonly messages: Iterable<MediaMessage>;
}

/** Publishes until the test ends. */
export async function publishPaced(t: Cleanup, { port, app, stream, messages }: PacedPublish): Promise<RtmpClient> {
  const client = await RtmpClient.openStream({ port, app });
  t.after(() => client[Symbol.asyncDispose]());
  const { code } = await client.publish(stream);
  if (code !== 'NetStream.Publish.Start') throw new Error(`publishing ${stream}: ${code}`);
  const left = Iterator.from(messages);
  const startedAt = performance.now();
  let next = left.next();
  const turn = () => {
    for (; next.done !== true && next.value.timestampMs <= performance.now() - startedAt; next = left.next())
      client.send(next.value);
  };
  const timer = setInterval(turn, TURN_MS);
  t.after(() => clearInterval(timer));
  return client;
}
