/** What an origin answered when it was tried: its address, TLS, status, and whether edges would store the answer. */
import type { DataOf } from '#contract/operations.ts';
import { Badge } from '../../components/badge.tsx';
import { Facts } from '../../components/detail.tsx';
import { useText } from '../../text/catalogue.ts';
import { originAnswerText } from '../../text/origin-answer.ts';

export function OriginAnswer({ answer }: { readonly answer: DataOf<'origin.probe'> }) {
  const t = useText(originAnswerText);
  const { address, tls, status, connect_ms, cacheable } = answer;
  const why = useReason(answer);
  const reason = why !== '' && <p className="help">{why}</p>;
  const hasAnswered = status > 0;
  return (
    <Facts
      facts={[
        { title: t.address, value: address === '' ? undefined : <span className="mono wrap">{address}</span> },
        { title: t.tls, value: hasAnswered ? tls || t.noTls : undefined },
        {
          title: t.answer,
          value: (
            <>
              <Badge tone={hasAnswered && status < 500 ? 'ok' : 'bad'}>
                {hasAnswered ? t.answered(status, connect_ms) : t.silent}
              </Badge>
              {!hasAnswered && reason}
            </>
          ),
        },
        {
          title: t.caching,
          value: hasAnswered ? (
            <>
              {cacheable === '1' ? t.cacheable : t.notCacheable}
              {reason}
            </>
          ) : undefined,
        },
      ]}
    />
  );
}

/** Why there is no answer, or edges would not store it, in words; one that is not known here stays as it is. */
export function useReason({ why }: Pick<DataOf<'origin.probe'>, 'why'>): string {
  const reasons: Readonly<Record<string, string>> = useText(originAnswerText).reasons;
  return reasons[why] ?? why;
}
