/** The bytes of a buffered body in their order: which of them are in memory, and where in its file the others are. Pure. */

/** A piece of the body: `at` is the position of its first byte. */
type Piece =
  | { readonly kind: 'memory'; readonly at: number; size: number; readonly bytes: Buffer; isBeingWritten: boolean }
  | { readonly kind: 'file'; readonly at: number; size: number; readonly position: number };

export type MemoryPiece = Extract<Piece, { kind: 'memory' }>;

/** What is at a position: bytes, or a place in the file. */
export type Located =
  | { readonly kind: 'memory'; readonly bytes: Buffer }
  | { readonly kind: 'file'; readonly position: number; readonly length: number };

/** Smaller ones are put together: each alone would cost as much as this. */
const PAGE_BYTES = 4 * 1024;
/** Read from the file at once. */
const READ_BYTES = 64 * 1024;

export class BufferPieces {
  #pieces: Piece[] = [];
  #startAt = 0;
  #endAt = 0;
  #heldBytes = 0;
  #inFile = 0;

  /** Position of the first byte that is here. */
  get startAt(): number {
    return this.#startAt;
  }

  /** Position behind the last byte. */
  get endAt(): number {
    return this.#endAt;
  }

  /** Memory that is taken. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Some bytes are in the file. */
  get isInFile(): boolean {
    return this.#inFile > 0;
  }

  /** `undefined`: some are in the file. */
  get bytes(): Buffer | undefined {
    const found: Buffer[] = [];
    for (const piece of this.#pieces) {
      if (piece.kind === 'file') return undefined;
      found.push(piece.bytes.subarray(0, piece.size));
    }
    return found.length === 1 ? found[0] : Buffer.concat(found);
  }

  /** Keeps the bytes themselves, unless they are few or keep much more memory from being freed. */
  add(bytes: Buffer): void {
    if (bytes.length < PAGE_BYTES) {
      this.#addSmall(bytes);
      return;
    }
    const isAlone = bytes.length * 2 >= bytes.buffer.byteLength;
    this.#append(isAlone ? bytes : ownCopy(bytes), bytes.length);
  }

  #addSmall(bytes: Buffer): void {
    const last = this.#pieces.at(-1);
    if (last?.kind === 'memory' && !last.isBeingWritten && last.bytes.length - last.size >= bytes.length) {
      bytes.copy(last.bytes, last.size);
      last.size += bytes.length;
      this.#endAt += bytes.length;
      return;
    }
    const page = Buffer.allocUnsafeSlow(PAGE_BYTES);
    bytes.copy(page);
    this.#append(page, bytes.length);
  }

  #append(bytes: Buffer, size: number): void {
    this.#pieces.push({ kind: 'memory', at: this.#endAt, size, bytes, isBeingWritten: false });
    this.#endAt += size;
    this.#heldBytes += bytes.length;
  }

  /** `position`: from `startAt` up to, not including, `endAt`. */
  at(position: number): Located {
    const piece = this.#find(position);
    const skipped = position - piece.at;
    if (piece.kind === 'memory') return { kind: 'memory', bytes: piece.bytes.subarray(skipped, piece.size) };
    const length = Math.min(READ_BYTES, piece.size - skipped);
    return { kind: 'file', position: piece.position + skipped, length };
  }

  #find(position: number): Piece {
    let [low, high] = [0, this.#pieces.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#pieces[middle]?.at ?? 0) <= position) low = middle;
      else high = middle - 1;
    }
    const piece = this.#pieces[low];
    if (piece === undefined) throw new RangeError('there is nothing at this position');
    return piece;
  }

  dropUpTo(position: number): void {
    let dropped = 0;
    for (const piece of this.#pieces) {
      if (piece.at + piece.size > position) break;
      if (piece.kind === 'memory') this.#heldBytes -= piece.bytes.length;
      else this.#inFile--;
      dropped++;
    }
    if (dropped > 0) this.#pieces = this.#pieces.slice(dropped);
    this.#startAt = Math.max(this.#startAt, Math.min(position, this.#endAt));
  }

  /**
   * Memory behind the first `staysBytes` of it, in order, about `maxBytes` of it: to be written. It stays readable here
   * until it is moved.
   */
  chooseForFile(staysBytes: number, maxBytes: number): readonly MemoryPiece[] {
    const chosen: MemoryPiece[] = [];
    let before = 0;
    let size = 0;
    for (const piece of this.#pieces) {
      if (piece.kind === 'file') continue;
      before += piece.bytes.length;
      if (before <= staysBytes) continue;
      if (size >= maxBytes) break;
      piece.isBeingWritten = true;
      chosen.push(piece);
      size += piece.size;
    }
    return chosen;
  }

  /**
   * Marks pieces as written to the file, one behind the other from `position` on. Pieces dropped meanwhile are left
   * out.
   */
  moveToFile(written: readonly MemoryPiece[], position: number): void {
    const at = new Map<Piece, number>();
    let next = position;
    for (const piece of written) {
      at.set(piece, next);
      next += piece.size;
    }
    const pieces: Piece[] = [];
    for (const piece of this.#pieces) {
      const place = at.get(piece);
      if (place === undefined || piece.kind === 'file') pieces.push(piece);
      else {
        this.#heldBytes -= piece.bytes.length;
        addInFile(pieces, { kind: 'file', at: piece.at, size: piece.size, position: place });
      }
    }
    this.#pieces = pieces;
    this.#inFile = pieces.filter(({ kind }) => kind === 'file').length;
  }
}

/** Joined with the piece before it where the two touch, in the body and in the file. */
function addInFile(pieces: Piece[], piece: Extract<Piece, { kind: 'file' }>): void {
  const last = pieces.at(-1);
  const touches =
    last?.kind === 'file' && last.at + last.size === piece.at && last.position + last.size === piece.position;
  if (touches) last.size += piece.size;
  else pieces.push(piece);
}

function ownCopy(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}
