/** What buffers of bodies may take of memory, of the disk and of open files: bounded in all, by client and by domain. Pure. */
import { createStock, type Stock } from '../stock.ts';

export interface BufferBudget {
  readonly memoryBytes: Stock;
  readonly fileBytes: Stock;
  readonly files: Stock;
}

export interface BufferLimits {
  readonly memoryBytes: number;
  readonly fileBytes: number;
  readonly files: number;
}

export function createBufferBudget(limits: BufferLimits): BufferBudget {
  return {
    memoryBytes: createStock(limits.memoryBytes),
    fileBytes: createStock(limits.fileBytes),
    files: createStock(limits.files),
  };
}
