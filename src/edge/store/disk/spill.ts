/** Gathers a body in a file, within the budget of all unfinished bodies. */
import type { WriterBudget } from '../gathered-bytes.ts';
import type { StoredBody } from '../store.ts';
import type { Spill } from '../writer.ts';
import type { BodyFileWriter } from './body-file.ts';

export interface SpillOptions {
  readonly budget: WriterBudget;
  /** Called if the file did not take a chunk. */
  readonly onRefused: () => void;
  readonly finish: (sizeBytes: number) => StoredBody;
}

export function createSpill(writer: BodyFileWriter, { budget, onRefused, finish }: SpillOptions): Spill {
  let takenBytes = 0;
  const giveBack = () => {
    budget.leftBytes += takenBytes;
    takenBytes = 0;
  };
  return {
    add: (chunk) => {
      if (chunk.length > budget.leftBytes) return false;
      takenBytes += chunk.length;
      budget.leftBytes -= chunk.length;
      if (writer.add(chunk)) return true;
      onRefused();
      return false;
    },
    drained: () => writer.drained(),
    finish: (sizeBytes) => {
      giveBack();
      return finish(sizeBytes);
    },
    discard: () => {
      giveBack();
      void writer.discard(); // never rejects
    },
  };
}
