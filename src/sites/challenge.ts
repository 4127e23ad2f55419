/** Challenges of certificate authorities, as an edge finds them: by the host and the address that the authority asks for. */
import { challengeKey, challengeToken } from '#model/challenge.ts';

/** Where they are read from. Synchronous: a local file's index. */
export interface ChallengeSource {
  /** The text that is asked for; `undefined`: it is not here. */
  getChallenge(key: string): string | undefined;
}

/** `target`: path and query. */
export function findChallenge(source: ChallengeSource, host: string, target: string): string | undefined {
  const token = challengeToken(target);
  return token === undefined ? undefined : source.getChallenge(challengeKey(host, token));
}
