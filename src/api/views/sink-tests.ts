/** Tries sinks of log lines: posts from this control, as edges post from theirs. */
import type { Clock } from '#lib/clock.ts';
import type { SinkPost } from '#logs/sinks/post.ts';

/** The answer to a test. */
export interface SinkTest {
  /** HTTP status; 0: there was no answer. */
  readonly status: number;
  readonly reason: string;
  readonly tookMs: number;
  readonly answer: string;
}

/** Never rejects; bounded in time. */
export type PostToSink = (
  post: SinkPost,
  signal: AbortSignal,
) => Promise<
  | { readonly kind: 'answered'; readonly status: number; readonly body?: string }
  | { readonly kind: 'failed'; readonly reason: string }
>;

export interface SinkTests {
  post(post: SinkPost): Promise<SinkTest>;
}

/** `postOnce` absent: this control posts nothing. */
export function createSinkTests(postOnce: PostToSink | undefined, steadyClock: Clock): SinkTests {
  return {
    async post(post) {
      const beganAt = steadyClock();
      const answer = (await postOnce?.(post, new AbortController().signal)) ?? NOTHING_POSTED;
      const tookMs = Math.round(steadyClock() - beganAt);
      if (answer.kind === 'failed') return { status: 0, reason: answer.reason, tookMs, answer: '' };
      return { status: answer.status, reason: '', tookMs, answer: answer.body ?? '' };
    },
  };
}

const NOTHING_POSTED = { kind: 'failed', reason: 'stopped' } as const;
