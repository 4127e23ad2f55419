/** Recordings of the live streams of a customer's domains. docs/decisions/0503 */
import { ServiceError } from '#contract/errors/service-error.ts';
import { listDomainIds } from '#db/tables/domains.ts';
import { listOnAir, listRecordings, markRecordingDeleted, type Recording } from '#db/tables/live/recordings.ts';
import { changeTopic } from '../settings/change-topics.ts';
import { timeRange } from '../wire/time-range.ts';
import type { Call, Handler } from './handler.ts';
import { readLiveDomain } from './live-domain.ts';

const LIST_DEFAULT_MS = 30 * 24 * 3_600_000;

type RecordingRoute = 'live.getRecording' | 'live.setRecording' | 'live.listRecordings' | 'live.deleteRecording';

export const LIVE_RECORDING_HANDLERS = {
  'live.getRecording': async (call, { name }) => await readLiveDomain(call, name),

  'live.setRecording': async (call, input) => {
    const { id } = await readLiveDomain(call, input.name);
    await changeTopic(call, id, 'recording', input);
  },

  'live.listRecordings': async (call, { name, from, to, ...filter }) => {
    const domainIds = await findDomainIds(call, name);
    const range = timeRange({ from, to }, call.now, LIST_DEFAULT_MS);
    const { total, recordings } = await listRecordings(call.db.query, { domainIds, ...filter, ...range });
    const unended = recordings.filter(({ endReason }) => endReason === '').map(({ broadcast }) => broadcast);
    const onAir = await listOnAir(call.db.query, unended);
    const urlsOf = ({ id, domainId }: Recording) =>
      call.recordingUrls({ accountId: call.accountId, domainId, recording: id }, call.now);
    const list = recordings.map((one) => ({ ...one, isOnAir: onAir.has(one.broadcast), ...urlsOf(one) }));
    return { total, list, expiresAt: call.urlsExpireAt(call.now) };
  },

  'live.deleteRecording': async (call, { name, recording }) => {
    const domainIds = await findDomainIds(call, name);
    const asked = { id: recording, domainIds, now: call.now };
    await call.db.transaction(async (trx) => {
      if (!(await markRecordingDeleted(trx, asked))) throw new ServiceError('liveRecordingNotFound', { recording });
    });
  },
} satisfies { readonly [N in RecordingRoute]: Handler<N> };

/** Also of domains that were deleted: what they have recorded stays until its days are over, as their log files do. */
async function findDomainIds({ db, accountId, domainIds }: Call, name: string): Promise<readonly number[]> {
  const ids = await listDomainIds(db.query, { accountId, domainIds, name });
  if (ids.length === 0) throw new ServiceError('domainNotFound', { domainId: name });
  return ids;
}
