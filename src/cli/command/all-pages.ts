/** Reads complete lists from operations that return a page at a time. */

/** Largest page of an operation. */
export const PAGE_SIZE = 100;

interface Page<T> {
  readonly total: number;
  readonly list: readonly T[];
}

export async function readAllPages<T>(
  ask: (page: { readonly page: number; readonly page_size: number }) => Promise<Page<T>>,
  pageSize = PAGE_SIZE,
): Promise<readonly T[]> {
  const all: T[] = [];
  for (let page = 1; ; page++) {
    const { list, total } = await ask({ page, page_size: pageSize });
    all.push(...list);
    if (list.length === 0 || all.length >= total) return all;
  }
}

/** Reads the whole list of an operation that does not count: a page that is not full is the last. */
export async function readFullPages<T>(
  ask: (page: { readonly page: number; readonly page_size: number }) => Promise<readonly T[]>,
  pageSize = PAGE_SIZE,
): Promise<readonly T[]> {
  const all: T[] = [];
  for (let page = 1; ; page++) {
    const list = await ask({ page, page_size: pageSize });
    all.push(...list);
    if (list.length < pageSize) return all;
  }
}
