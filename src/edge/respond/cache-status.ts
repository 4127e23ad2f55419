/** Writes `Cache-Status` (RFC 9211): how this cache handled the request. Pure. */
import type { EdgeAnswer } from './edge-answer.ts';

/** Returns our member of the list without the name of the cache; empty if the field has no parameter for the case. */
export function cacheStatus({ mark, isReplacement }: Pick<EdgeAnswer, 'mark' | 'isReplacement'>): string {
  switch (mark.status) {
    case 'HIT':
      return '; hit'; // §2.1
    case 'STALE':
      return '; hit; detail=stale'; // §2.8: for what the other parameters cannot express
    case 'REVALIDATED':
      return '; fwd=stale; fwd-status=304'; // §2.2, §2.3
    case 'MISS': {
      const forwarded = isReplacement === true ? '; fwd=stale' : '; fwd=miss';
      return mark.reason === undefined ? `${forwarded}; stored` : `${forwarded}; detail=${mark.reason}`; // §2.5
    }
    case 'BYPASS':
      return `; fwd=${mark.reason === 'method' ? 'method' : 'bypass'}; detail=${mark.reason}`;
    case 'REDIRECT':
    case 'OWN':
    case 'DENIED':
    case 'ERROR':
      return `; detail=${mark.reason}`;
  }
}
