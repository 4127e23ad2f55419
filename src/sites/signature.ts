/**
 * Which pieces a text has, as bits by their hashes. A rule names a piece that must be there, and a look at a bit then rules out
 * nearly every rule that does not match; what is left over is looked at whole. docs/decisions/0118
 */

/** Number of a piece: its hash. Different pieces may have the same. */
export type Piece = number;

const PIECE_BITS = 13;
/** Piece of rules that may match any text. */
export const ANY_TEXT: Piece = 2 ** PIECE_BITS;

export class Signature {
  readonly #bits = new Uint32Array(ANY_TEXT / 32 + 1);

  constructor() {
    this.clear();
  }

  clear(): void {
    this.#bits.fill(0);
    setBit(this.#bits, ANY_TEXT);
  }

  /** The first place from `from` on, in pieces of a character each, whose piece the text has; -1: none. */
  indexIn(pieces: string, from: number): number {
    const bits = this.#bits;
    for (let index = from; index < pieces.length; index++) {
      const piece = pieces.charCodeAt(index);
      if ((((bits[piece >>> 5] ?? 0) >>> (piece & 31)) & 1) === 1) return index;
    }
    return -1;
  }

  /** Each three characters that follow one another: see `lettersPiece`. */
  addLetters(text: string): void {
    const bits = this.#bits;
    let letters = 0;
    for (let i = 0; i < text.length; i++) {
      letters = shiftIn(letters, text.charCodeAt(i));
      if (i >= 2) setBit(bits, pieceOf(LETTERS, letters));
    }
  }

  /** A path, and each directory that it is in, with its slash and without: see `directoryPiece`. */
  addDirectories(path: string): void {
    const bits = this.#bits;
    let hash = 0;
    for (let i = 0; i < path.length; i++) {
      const code = path.charCodeAt(i);
      if (code === SLASH) setBit(bits, pieceOf(DIRECTORY, hash));
      hash = mixIn(hash, code);
      if (code === SLASH) setBit(bits, pieceOf(DIRECTORY, hash));
    }
    setBit(bits, pieceOf(DIRECTORY, hash));
  }

  /** Adds the suffixes of a path's last segment that begin at a dot: see `suffixPiece`. */
  addSuffixes(path: string): void {
    const bits = this.#bits;
    let hash = 0;
    for (let i = path.length - 1; i >= 0; i--) {
      const code = path.charCodeAt(i);
      if (code === SLASH) return;
      hash = mixIn(hash, code >= UPPER_A && code <= UPPER_Z ? code + LOWER : code);
      if (code === DOT) setBit(bits, pieceOf(SUFFIX, hash));
    }
  }

  /** A host and all domains above it: see `hostPiece`. */
  addHosts(host: string): void {
    const bits = this.#bits;
    let hash = 0;
    for (let i = host.length - 1; i >= 0; i--) {
      const code = host.charCodeAt(i);
      if (code === DOT) setBit(bits, pieceOf(HOST, hash));
      hash = mixIn(hash, code);
    }
    setBit(bits, pieceOf(HOST, hash));
  }
}

function setBit(bits: Uint32Array, piece: Piece): void {
  const word = piece >>> 5;
  bits[word] = (bits[word] ?? 0) | (1 << (piece & 31));
}

/** The last three characters of what must be in a text; of less nothing can be said. */
export function lettersPiece(part: string): Piece {
  if (part.length < 3) return ANY_TEXT;
  let letters = 0;
  for (let i = part.length - 3; i < part.length; i++) letters = shiftIn(letters, part.charCodeAt(i));
  return pieceOf(LETTERS, letters);
}

export function directoryPiece(path: string): Piece {
  let hash = 0;
  for (let i = 0; i < path.length; i++) hash = mixIn(hash, path.charCodeAt(i));
  return pieceOf(DIRECTORY, hash);
}

/** `ending` begins with a dot and is lower case. */
export function suffixPiece(ending: string): Piece {
  return pieceOf(SUFFIX, hashFromEnd(ending));
}

export function hostPiece(host: string): Piece {
  return pieceOf(HOST, hashFromEnd(host));
}

const DOT = 0x2e;
const SLASH = 0x2f;
const UPPER_A = 0x41;
const UPPER_Z = 0x5a;
const LOWER = 0x20;
/** What a piece is, so that a host is no directory: numbers without a pattern. */
const LETTERS = 0x1f3d_5b79;
const DIRECTORY = 0x2545_f491;
const SUFFIX = 0x3c6e_f372;
const HOST = 0x517c_c1b7;

/** Keeps what the last three characters were. */
function shiftIn(letters: number, code: number): number {
  return ((letters << 8) ^ code) & 0xff_ffff;
}

function mixIn(hash: number, code: number): number {
  return (Math.imul(hash, 31) + code) | 0;
}

function hashFromEnd(text: string): number {
  let hash = 0;
  for (let i = text.length - 1; i >= 0; i--) hash = mixIn(hash, text.charCodeAt(i));
  return hash;
}

/** Fibonacci hashing: the top `PIECE_BITS` of hash × 2^32/φ, which depend on all bits of the hash. */
function pieceOf(what: number, hash: number): Piece {
  return Math.imul(hash ^ what, 0x9e37_79b1) >>> (32 - PIECE_BITS);
}
