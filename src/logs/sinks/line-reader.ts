/** Reads the lines of a spool file that may still grow. */
import { open } from 'node:fs/promises';
import { LineExpander } from '../expand.ts';

export interface SpoolLine {
  /** One character per byte, without its end. */
  readonly text: string;
  /** Where it begins and ends in the file, its end included. */
  readonly start: number;
  readonly end: number;
}

/** Bytes that are read at once, more than a line has: expanded, they may be ten times as many. */
const CHUNK_BYTES = 128 * 1024;

export class LineReader {
  readonly #path: string;
  readonly #from: number;
  readonly #expander = new LineExpander();
  #readTo = 0;

  /** `from`: end of the last line that is not returned. The file is read from its beginning, since short lines refer back. */
  constructor(path: string, from: number) {
    this.#path = path;
    this.#from = from;
  }

  /** Returns the next lines; none if there are no more for now. Rejects if the file does not exist. */
  async read(): Promise<readonly SpoolLine[]> {
    for (;;) {
      const chunk = await this.#readChunk();
      if (chunk.length === 0) return [];
      const lines = this.#expand(chunk);
      if (lines.length > 0) return lines;
    }
  }

  #expand(chunk: Buffer): readonly SpoolLine[] {
    const lines: SpoolLine[] = [];
    for (let at = 0; at < chunk.length; ) {
      const next = chunk.indexOf(LF, at) + 1;
      const [start, end] = [this.#readTo + at, this.#readTo + next];
      const text = this.#expander.expand(chunk.toString('latin1', at, next)).slice(0, -1);
      if (end > this.#from) lines.push({ text, start, end });
      at = next;
    }
    this.#readTo += chunk.length;
    return lines;
  }

  /** Returns whole lines; empty if there is none yet. */
  async #readChunk(): Promise<Buffer> {
    const handle = await open(this.#path);
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(CHUNK_BYTES), { position: this.#readTo });
      return buffer.subarray(0, buffer.subarray(0, bytesRead).lastIndexOf(LF) + 1);
    } finally {
      await handle.close();
    }
  }
}

const LF = 0x0a;
