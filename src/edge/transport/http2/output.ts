/** Frames that wait to be written on a connection, joined into one buffer when they are. */
import { FRAME_HEAD_BYTES, FrameFlag, FrameType, writeFrameHead, writeUint32 } from './frames.ts';

export class Output {
  // For each piece: its bytes, the stream id to be set (0: the bytes contain it already), and a mark for its kind.
  readonly #pieces: Buffer[] = [];
  readonly #streamIds: number[] = [];
  readonly #marks: number[] = [];
  #bytes = 0;

  get sizeBytes(): number {
    return this.#bytes;
  }

  /** Adds complete frames. */
  add(frames: Buffer): void {
    this.#add(frames, 0, 0, frames.length);
  }

  /**
   * Adds one or two frames whose stream id is to be set. `secondAt`: offset of the second frame; 0 if there is none.
   * The bytes must not change until they are taken.
   */
  addFor(streamId: number, frames: Buffer, secondAt: number): void {
    this.#add(frames, streamId, secondAt, frames.length);
  }

  /** Adds DATA. The bytes must not change until they are taken. */
  addData(streamId: number, bytes: Buffer, endsStream: boolean): void {
    this.#add(bytes, streamId, endsStream ? LAST_DATA : DATA, FRAME_HEAD_BYTES + bytes.length);
  }

  #add(piece: Buffer, streamId: number, mark: number, bytes: number): void {
    this.#pieces.push(piece);
    this.#streamIds.push(streamId);
    this.#marks.push(mark);
    this.#bytes += bytes;
  }

  /** Writes everything into `bytes`, which has `sizeBytes` bytes, and empties the queue. */
  takeInto(bytes: Buffer): void {
    let at = 0;
    for (let i = 0; i < this.#pieces.length; i++) {
      const piece = this.#pieces[i] ?? NOTHING;
      const streamId = this.#streamIds[i] ?? 0;
      const mark = this.#marks[i] ?? 0;
      if (mark < 0) {
        const flags = mark === LAST_DATA ? FrameFlag.endStream : 0;
        writeFrameHead(bytes, at, piece.length, { type: FrameType.data, flags, streamId });
        at += FRAME_HEAD_BYTES;
      }
      bytes.set(piece, at);
      if (mark >= 0 && streamId > 0) writeUint32(bytes, at + STREAM_ID_AT, streamId);
      if (mark > 0) writeUint32(bytes, at + mark + STREAM_ID_AT, streamId);
      at += piece.length;
    }
    this.#pieces.length = this.#streamIds.length = this.#marks.length = this.#bytes = 0;
  }
}

// Marks of the pieces of a body. The mark of any other piece is the offset of its second frame, or 0.
const DATA = -1;
const LAST_DATA = -2;

/** Offset of the stream id in a frame's head. */
const STREAM_ID_AT = 5;
const NOTHING = Buffer.alloc(0);
