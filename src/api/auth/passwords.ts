/** Passwords: Argon2id in Node's thread pool, as many at once as leave room there for files and names. docs/decisions/0664 */
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { ServiceError } from '#contract/errors/service-error.ts';
import { FairQueue } from '#lib/fair-queue.ts';

export interface Passwords {
  /** Returns the hash to store. `network`: that of the client; throws `ServiceError` if too many wait. */
  hash(password: string, network: string): Promise<string>;
  /** `stored` absent: there is none, which takes as long to find out. */
  check(password: string, stored: string | undefined, network: string): Promise<PasswordCheck>;
}

interface PasswordCheck {
  readonly isRight: boolean;
  /** The hash was made with weaker parameters than new ones are. */
  readonly isOutdated: boolean;
}

interface Parameters {
  readonly memoryKib: number;
  readonly passes: number;
}

/** Some 50 ms. OWASP, Password Storage Cheat Sheet. */
const CURRENT: Parameters = { memoryKib: 19_456, passes: 2 };
const SALT_BYTES = 16;
const TAG_BYTES = 32;
/** Two of the four threads; a second of work may wait for one network, ten for all. */
const LIMITS = { atOnce: 2, perKey: 20, inAll: 400 };
const BUSY_SECONDS = 2;

const derive = promisify(argon2);

export function createPasswords(): Passwords {
  const queue = new FairQueue(LIMITS);
  const inTurn = <T>(network: string, work: () => Promise<T>): Promise<T> => {
    const done = queue.run(network, work);
    if (done === undefined) throw new ServiceError('tooManyRequests', { seconds: BUSY_SECONDS });
    return done;
  };
  const nobody = format(CURRENT, randomBytes(SALT_BYTES), randomBytes(TAG_BYTES));
  return {
    hash: async (password, network) => {
      const salt = randomBytes(SALT_BYTES);
      return format(CURRENT, salt, await inTurn(network, () => deriveTag(password, salt, CURRENT)));
    },
    check: async (password, stored, network) => {
      const { parameters, salt, tag } = parse(stored ?? nobody);
      const found = await inTurn(network, () => deriveTag(password, salt, parameters));
      const isRight = timingSafeEqual(found, tag) && stored !== undefined;
      const { memoryKib, passes } = parameters;
      return { isRight, isOutdated: memoryKib < CURRENT.memoryKib || passes < CURRENT.passes };
    },
  };
}

async function deriveTag(password: string, salt: Buffer, { memoryKib, passes }: Parameters): Promise<Buffer> {
  // The same password may be typed composed or decomposed.
  const message = password.normalize('NFC');
  return await derive('argon2id', {
    message,
    nonce: salt,
    parallelism: 1,
    tagLength: TAG_BYTES,
    memory: memoryKib,
    passes,
  });
}

/** The form that other programs have for it, too. */
function format({ memoryKib, passes }: Parameters, salt: Buffer, tag: Buffer): string {
  return `$argon2id$v=19$m=${memoryKib},t=${passes},p=1$${unpadded(salt)}$${unpadded(tag)}`;
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}

function parse(stored: string) {
  const [, memory, passes, salt, tag] = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=1\$([^$]+)\$([^$]+)$/.exec(stored) ?? [];
  if (tag === undefined) throw new Error('a stored password is not an Argon2id hash');
  return {
    parameters: { memoryKib: Number(memory), passes: Number(passes) },
    salt: Buffer.from(salt ?? '', 'base64'),
    tag: Buffer.from(tag, 'base64'),
  };
}
