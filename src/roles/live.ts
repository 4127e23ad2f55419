/** The process that owns this machine's live streams: takes publishers in and hands streams to the edge workers. */
import { openSiteReader } from '#feed/edge-store.ts';
import type { PartContext, RunningPart } from './child.ts';
import { edgeStorePath } from './edge-feed.ts';

export async function startLive({ config }: PartContext): Promise<RunningPart> {
  const source = openSiteReader(edgeStorePath(config.dataDir));
  return {
    applyChange: () => {},
    async stop() {
      source[Symbol.dispose]();
    },
  };
}
