/** The position of a sink in a spool file, and the batches of records that follow it. */
import type { LineSink } from '#model/line-sink.ts';
import { LineReader, type SpoolLine } from './line-reader.ts';
import type { MakeRecord } from './record.ts';

/** Records of one post. `start` and `end` are offsets in the file; what lies between them and is no record is passed over. */
export interface SinkBatch {
  readonly start: number;
  readonly end: number;
  readonly records: readonly SinkRecord[];
  /** Posts of it that were refused. */
  refusals: number;
}

interface SinkRecord {
  readonly json: string;
  /** End of its line in the file. */
  readonly end: number;
}

type Limits = Pick<LineSink, 'maxBytes' | 'maxRecords' | 'maxSeconds'>;

export class SinkCursor {
  readonly #reader: LineReader;
  readonly #makeRecord: MakeRecord;
  readonly #limits: Limits;
  /** Lines that were read and are in no batch yet. */
  #lines: SpoolLine[] = [];
  /** Batches that are to be sent, the first of which may be in flight. */
  readonly #due: SinkBatch[] = [];
  /** Records of the batch that is being filled, its size, and when its first line was read. */
  #records: SinkRecord[] = [];
  #bytes = 0;
  #since = 0;
  #start: number;
  #end: number;
  #isFinished = false;

  constructor(path: string, from: number, makeRecord: MakeRecord, limits: Limits) {
    this.#reader = new LineReader(path, from);
    this.#makeRecord = makeRecord;
    this.#limits = limits;
    this.#start = from;
    this.#end = from;
  }

  /** Offset up to which everything is sent or passed over. */
  get position(): number {
    return this.#due[0]?.start ?? this.#start;
  }

  /** Whether the file has ended and everything in it is sent or passed over. */
  get isFinished(): boolean {
    return this.#isFinished;
  }

  /**
   * Returns the batch to send next; `undefined` while none is full or old enough. `now`: monotonic milliseconds.
   * `isEnded`: whether the file had ended before this call. Rejects if the file does not exist.
   */
  async next(now: number, isEnded: boolean): Promise<SinkBatch | undefined> {
    if (this.#due[0] !== undefined) return this.#due[0];
    const isAtEnd = await this.#fill(now);
    if (isAtEnd && this.#records.length > 0 && (isEnded || now - this.#since >= this.#limits.maxSeconds * 1000))
      this.#close();
    if (this.#records.length === 0) this.#start = this.#end;
    this.#isFinished = isEnded && isAtEnd && this.#due.length === 0;
    return this.#due[0];
  }

  /** Goes on behind a batch that is sent or dropped. */
  finish(batch: SinkBatch): void {
    if (this.#due[0] === batch) this.#due.shift();
  }

  /** Divides a batch of several records. */
  halve({ start, end, records }: SinkBatch): void {
    const half = Math.ceil(records.length / 2);
    const middle = records[half - 1]?.end ?? end;
    this.#due.splice(
      0,
      1,
      { start, end: middle, records: records.slice(0, half), refusals: 0 },
      { start: middle, end, records: records.slice(half), refusals: 0 },
    );
  }

  /** Fills the batch until it is full. Returns whether the end of the file was reached before. */
  async #fill(now: number): Promise<boolean> {
    for (;;) {
      for (const [n, line] of this.#lines.entries()) {
        const json = this.#makeRecord(line.text, line.start);
        if (json !== undefined && !this.#fits(json)) {
          this.#lines = this.#lines.slice(n);
          this.#close();
          return false;
        }
        if (json !== undefined) this.#add({ json, end: line.end }, now);
        this.#end = line.end;
      }
      this.#lines = [...(await this.#reader.read())];
      if (this.#lines.length === 0) return true;
    }
  }

  #fits(json: string): boolean {
    const { maxRecords, maxBytes } = this.#limits;
    if (this.#records.length === 0) return true;
    return this.#records.length < maxRecords && this.#bytes + Buffer.byteLength(json) + 1 <= maxBytes;
  }

  #add(record: SinkRecord, now: number): void {
    if (this.#records.length === 0) this.#since = now;
    this.#records.push(record);
    this.#bytes += Buffer.byteLength(record.json) + 1;
  }

  /** Ends the batch that is being filled. */
  #close(): void {
    this.#due.push({ start: this.#start, end: this.#end, records: this.#records, refusals: 0 });
    this.#records = [];
    this.#bytes = 0;
    this.#start = this.#end;
  }
}
