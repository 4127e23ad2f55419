/** The server's side of a handshake, fed with pieces of any size. */
import { answerHandshake, HANDSHAKE_END_BYTES, HANDSHAKE_START_BYTES, isHandshakeVersion } from './handshake.ts';

export type HandshakeStep =
  /** `answer`: bytes to be written now. */
  | { readonly kind: 'incomplete'; readonly answer: Buffer | undefined }
  /** `rest`: bytes after the handshake. */
  | { readonly kind: 'done'; readonly answer: Buffer | undefined; readonly rest: Buffer }
  /** The client speaks another protocol, or RTMPE. */
  | { readonly kind: 'foreign' };

export class ServerHandshake {
  readonly #randomBytes: (size: number) => Buffer;
  readonly #start = Buffer.alloc(HANDSHAKE_START_BYTES);
  #startBytes = 0;
  /** Bytes of C2 that are still missing; its content is ignored. */
  #missingEndBytes = HANDSHAKE_END_BYTES;

  constructor(randomBytes: (size: number) => Buffer) {
    this.#randomBytes = randomBytes;
  }

  push(bytes: Buffer): HandshakeStep {
    const copied = bytes.copy(this.#start, this.#startBytes);
    this.#startBytes += copied;
    if (!isHandshakeVersion(this.#start.readUInt8(0))) return { kind: 'foreign' };
    if (this.#startBytes < HANDSHAKE_START_BYTES) return { kind: 'incomplete', answer: undefined };
    const answer = copied > 0 ? answerHandshake(this.#start, this.#randomBytes(2 * HANDSHAKE_END_BYTES)) : undefined;
    const skipped = Math.min(this.#missingEndBytes, bytes.length - copied);
    this.#missingEndBytes -= skipped;
    if (this.#missingEndBytes > 0) return { kind: 'incomplete', answer };
    return { kind: 'done', answer, rest: bytes.subarray(copied + skipped) };
  }
}
