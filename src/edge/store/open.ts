/** Opens a worker's cache store: memory, on top of a disk if there is one. */
import { DiskStore } from './disk/disk.ts';
import type { OnDiskProblem } from './disk/health.ts';
import { createHeadEncoder } from './head-codec.ts';
import { createKeyHasher } from './key-hash.ts';
import { MemoryStore } from './memory.ts';
import type { CacheStore } from './store.ts';
import { TieredStore } from './tiered.ts';

export interface StoreOptions {
  /** Limit of this worker's memory. */
  readonly memoryBytes: number;
  readonly directory: string;
  /** Limit of the directory, for all workers together; 0: no disk. */
  readonly diskBytes: number;
  readonly onProblem: OnDiskProblem;
  /** See `MemoryStoreOptions`. */
  readonly onFreed?: (bytes: Buffer) => void;
}

/** Size above which a body on disk is read from its file each time. */
const MAX_BODY_BYTES_OVER_DISK = 4 * 1024 * 1024;

/** Opens the store. A directory that cannot be used is retried; meanwhile there is only memory. */
export function openStore({ memoryBytes, directory, diskBytes, onProblem, ...given }: StoreOptions): CacheStore {
  const inMemory = { maxBytes: memoryBytes, ...given };
  if (diskBytes === 0) return new MemoryStore(inMemory);
  const shared = { hashKey: createKeyHasher(), encodeHead: createHeadEncoder() };
  const memory = new MemoryStore({ ...inMemory, maxBodyBytes: MAX_BODY_BYTES_OVER_DISK, ...shared });
  return new TieredStore({ memory, disk: new DiskStore({ directory, maxBytes: diskBytes, onProblem, ...shared }) });
}
