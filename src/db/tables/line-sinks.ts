/** Sinks of log lines: each is a resource of the feed, whose body is sealed. docs/decisions/0743 */
import { type LineSink, SINK_KIND } from '#model/line-sink.ts';
import type { Executor } from '../schema/schema.ts';
import { type Keyring, KeyringError } from '../secrets/keyring.ts';
import { type SecretLocation, seal, unseal } from '../secrets/sealing.ts';
import type { Change } from './resources.ts';

/** The feed resource before the feed unseals it. */
export interface SealedSink {
  /** JSON of a `LineSink`, sealed for `sinkLocation`. */
  readonly sealed: string;
}

export interface NamedSink {
  readonly name: string;
  /** `undefined`: it cannot be unsealed. */
  readonly sink: LineSink | undefined;
}

export function sinkLocation(name: string): SecretLocation {
  return { table: SINK_KIND, row: name, column: 'body' };
}

/** Lists all sinks by name. */
export async function listLineSinks(x: Executor, ring: Keyring): Promise<readonly NamedSink[]> {
  const rows = await x
    .selectFrom('resource')
    .select(['key', 'body'])
    .where('kind', '=', SINK_KIND)
    .where('deleted', '=', 0)
    .orderBy('key')
    .execute();
  return rows.map(({ key, body }) => {
    try {
      // `as`: written by `putLineSink` only.
      return { name: key, sink: openLineSink(ring, key, (JSON.parse(body) as SealedSink).sealed) };
    } catch (error) {
      if (error instanceof KeyringError) return { name: key, sink: undefined };
      throw error;
    }
  });
}

/** Throws `KeyringError`. */
export function openLineSink(ring: Keyring, name: string, sealed: string): LineSink {
  // `as`: written by `putLineSink` only.
  return JSON.parse(unseal(ring, sinkLocation(name), sealed).toString('utf8')) as LineSink;
}

/** Returns the change to publish. */
export function putLineSink(ring: Keyring, name: string, sink: LineSink): Change {
  const sealed = seal(ring, sinkLocation(name), Buffer.from(JSON.stringify(sink)));
  return { kind: SINK_KIND, key: name, op: 'put', body: { sealed } satisfies SealedSink };
}
