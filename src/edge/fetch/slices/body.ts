/** Presents a sliced object as one stored body: slices that are not stored are fetched as they are read. */
import type { ByteSpan } from '#http/range.ts';
import type { EdgeContext } from '../../context.ts';
import { SliceLost } from '../../respond/edge-answer.ts';
import { readShared } from '../../respond/read-shared.ts';
import { Holds } from '../../store/holds.ts';
import { holdNothing } from '../../store/memory-body.ts';
import type { Release, StoredBody } from '../../store/store.ts';
import type { Viewer } from '../../viewer.ts';
import { leaveSlice, type OpenedSlice, type SharedSlice } from './fetch.ts';
import type { NoSlice } from './flights.ts';
import { SLICE_BYTES, sliceAt } from './layout.ts';
import type { SlicedObject } from './object.ts';
import { fetchAhead, openSlice } from './open.ts';

export class SlicedBody implements StoredBody {
  readonly sizeBytes: number;
  /** No-op: each slice is held by itself. */
  readonly hold = holdNothing;
  readonly #edge: EdgeContext;
  readonly #object: SlicedObject;
  readonly #viewer: Pick<Viewer, 'queuedBytes'>;
  #first: { readonly slice: number; readonly opened: OpenedSlice } | undefined;
  #reading: Exclude<OpenedSlice, NoSlice> | undefined;
  #readBytes = 0;
  /** Slices that the viewer may not have taken all of, oldest first. */
  readonly #sent: { readonly endBytes: number; readonly release: Release }[] = [];
  #hasLeft = false;

  /** `viewer` must be the recipient of every byte that is read: its queue shows when slices can be released. */
  constructor(edge: EdgeContext, object: SlicedObject, viewer: Pick<Viewer, 'queuedBytes'>) {
    this.#edge = edge;
    this.#object = object;
    this.#viewer = viewer;
    this.sizeBytes = object.totalBytes;
  }

  /**
   * Bytes that a slow client keeps in memory although the store has dropped them. Bytes in transit are counted by the
   * store.
   */
  get heldBytes(): number {
    const body = bodyOf(this.#reading);
    return body === undefined || this.#edge.store.isCounted?.(body) === true ? 0 : (body.heldBytes ?? body.sizeBytes);
  }

  get readerBytes(): number {
    return bodyOf(this.#reading)?.readerBytes ?? 0;
  }

  /** Opens the first slice that will be read. If it is unavailable, another answer can still be sent. */
  async openFirst(slice: number): Promise<OpenedSlice> {
    const opened = await openSlice(this.#edge, this.#object, slice);
    this.#first = { slice, opened };
    return opened;
  }

  /** Releases all slices. Must be called when the viewer has the answer or has left. */
  leave(): void {
    this.#hasLeft = true;
    if (this.#first !== undefined) leaveSlice(this.#first.opened);
    this.#first = undefined;
    this.#releaseTaken(0);
  }

  /**
   * Reads slice after slice; fetches the next one meanwhile. Throws `SliceLost` if a slice is unavailable or breaks
   * off.
   */
  async *read({ first, last }: ByteSpan): AsyncGenerator<Buffer> {
    const lastSlice = sliceAt(last);
    for (let slice = sliceAt(first); slice <= lastSlice; slice++) {
      const opened = await this.#open(slice);
      if (slice < lastSlice) fetchAhead(this.#edge, this.#object, slice + 1);
      const start = slice * SLICE_BYTES;
      const span = { first: Math.max(first - start, 0), last: Math.min(last - start, SLICE_BYTES - 1) };
      yield* this.#readSlice(opened, span);
      this.#releaseTaken(this.#viewer.queuedBytes);
    }
  }

  #open(slice: number): Promise<OpenedSlice> | OpenedSlice {
    const primed = this.#first;
    if (primed?.slice !== slice) return openSlice(this.#edge, this.#object, slice);
    this.#first = undefined;
    return primed.opened;
  }

  async *#readSlice(opened: OpenedSlice, span: ByteSpan): AsyncGenerator<Buffer> {
    if (opened.kind !== 'stored' && opened.kind !== 'shared') {
      throw new SliceLost(`a slice is not to be had: ${opened.kind}`);
    }
    this.#reading = opened;
    const holds = new Holds();
    try {
      for await (const piece of opened.kind === 'stored' ? opened.body.read(span) : readAlong(opened, span, holds)) {
        this.#readBytes += piece.length;
        yield piece;
      }
    } finally {
      this.#reading = undefined;
      const release = opened.kind === 'stored' ? opened.release : () => holds.release();
      if (this.#hasLeft) release();
      else this.#sent.push({ endBytes: this.#readBytes, release });
    }
  }

  /** Releases slices that have no bytes among the last `queuedBytes` that were read. */
  #releaseTaken(queuedBytes: number): void {
    const takenBytes = this.#readBytes - queuedBytes;
    while (this.#sent[0] !== undefined && this.#sent[0].endBytes <= takenBytes) this.#sent.shift()?.release();
  }
}

/**
 * Returns the slice's stored body, or the bytes kept in memory for readers of a slice that is in transit or was not
 * stored.
 */
function bodyOf(opened: OpenedSlice | undefined): StoredBody | undefined {
  if (opened?.kind === 'stored') return opened.body;
  if (opened?.kind !== 'shared') return undefined;
  const { over, memory } = opened.shared;
  return (over?.kind === 'whole' ? over.body : undefined) ?? memory;
}

async function* readAlong(
  { shared, fetchRest, reader }: SharedSlice,
  span: ByteSpan,
  holds: Holds,
): AsyncGenerator<Buffer> {
  const never = new AbortController().signal; // a slice is short
  try {
    yield* clip(readShared(shared, { fetchRest, signal: never, opened: reader, holds }), span);
  } catch (error) {
    throw new SliceLost('a slice broke off', { cause: error });
  }
}

async function* clip(chunks: AsyncIterable<Buffer>, { first, last }: ByteSpan): AsyncGenerator<Buffer> {
  let at = 0;
  for await (const chunk of chunks) {
    const bytes = chunk.subarray(Math.max(first - at, 0), Math.max(last + 1 - at, 0));
    if (bytes.length > 0) yield bytes;
    at += chunk.length;
    if (at > last) return;
  }
}
