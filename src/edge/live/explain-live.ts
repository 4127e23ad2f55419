/** Explains what the stage of live streams would do with a request, without asking the live process. */
import { unreachable } from '#lib/unreachable.ts';
import type { Site } from '#sites/site.ts';
import type { EdgeContext } from '../context.ts';
import type { CacheMark } from '../reasons.ts';
import type { EdgeRequest } from '../request.ts';
import { decideLive } from './decide-live.ts';

export interface LiveExplanation {
  readonly found: string;
  /** Absent if the other stages answer, or may have to. */
  readonly mark?: CacheMark;
}

/** Returns `undefined` if the domain has no streams, or none under this path. */
export function explainLive(
  { live, clock }: Pick<EdgeContext, 'live' | 'clock'>,
  site: Site,
  request: EdgeRequest,
): LiveExplanation | undefined {
  if (site.type !== 'live' || live === undefined) return undefined;
  const decision = decideLive(live, site, request, clock());
  switch (decision.kind) {
    case 'ordinary':
      return undefined;
    case 'preflight':
      return { found: 'a preflight', mark: { status: 'OWN', reason: 'livePreflight' } };
    case 'denied':
      return { found: `refused: ${decision.reason}`, mark: { status: 'DENIED', reason: decision.reason } };
    case 'unavailable':
      return { found: 'the live process cannot be reached', mark: { status: 'ERROR', reason: 'liveUnavailable' } };
    case 'absent':
      return { found: 'no such stream is on air', mark: { status: 'ERROR', reason: 'noStream' } };
    case 'malformed':
      return { found: 'invalid playlist directives', mark: { status: 'ERROR', reason: 'liveDirectives' } };
    case 'pull':
      return { found: 'not on air: the live process would be asked to pull it; otherwise an ordinary file' };
    case 'flv':
      return { found: 'on air, as FLV', mark: { status: 'HIT' } };
    case 'hls':
      return { found: `on air, ${decision.file} of broadcast ${decision.broadcast}`, mark: { status: 'HIT' } };
    default:
      return unreachable(decision);
  }
}
