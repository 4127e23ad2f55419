/** Reads and changes by the names of operations: what a page asks for is named once, kept, and read anew when it changes. */
import {
  keepPreviousData,
  QueryClient,
  type UseQueryResult,
  useInfiniteQuery,
  useMutation,
  useQueries,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useRef } from 'react';
import { ClientError } from '#client/client-error.ts';
import type { CallOf, DataOf } from '#contract/operations.ts';
import { ADDING } from '#contract/route-kinds.ts';
import type { RouteName } from '#contract/routes.ts';
import type { Load, Problem } from './components/load.ts';
import { usePreference, useServices } from './services.tsx';
import { isTouched } from './touched.ts';

const FRESH_MS = 5000;

export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        networkMode: 'always',
        staleTime: FRESH_MS,
        retry: (failures, error) => failures < 1 && isTransient(error),
        retryDelay: 1000,
      },
      mutations: { networkMode: 'always' },
    },
  });
}

interface ReadOptions<D> {
  /** `false`: what is asked for is not known yet. */
  readonly isEnabled?: boolean;
  /** Read again at this interval while the page is seen; it may depend on what was read. */
  readonly everyMs?: number | false | ((data: D | undefined) => number | false);
  /** What was read for the request before is shown until the answer is there. */
  readonly keepsPrevious?: boolean;
}

/** Reads, and reads again whenever a hint or a change names the operation's group. */
export function useRead<N extends RouteName>(
  name: N,
  request: CallOf<N>,
  options: ReadOptions<DataOf<N>> = {},
): Load<DataOf<N>> {
  return loadOf(useReadQuery(name, request, options), useServices().caller.resume);
}

/** The same of several objects, in their order. */
export function useReads<N extends RouteName>(name: N, requests: readonly CallOf<N>[]): readonly Load<DataOf<N>>[] {
  const { caller } = useServices();
  const queryOf = useQueryOf();
  const found = useQueries({ queries: requests.map((request) => queryOf(name, request)) });
  return found.map((query) => loadOf<DataOf<N>>(query, caller.resume));
}

/** How an operation is asked, and under which key its answer is kept. */
function useQueryOf() {
  const { caller } = useServices();
  const locale = usePreference('locale');
  return <N extends RouteName>(name: N, request: CallOf<N>) => ({
    queryKey: [name, request, locale],
    queryFn: ({ signal }: { readonly signal: AbortSignal }) => caller.call(name, request, { signal }),
  });
}

export function useReadQuery<N extends RouteName>(
  name: N,
  request: CallOf<N>,
  { isEnabled = true, everyMs = false, keepsPrevious = false }: ReadOptions<DataOf<N>> = {},
): UseQueryResult<DataOf<N>> {
  const queryOf = useQueryOf();
  return useQuery<DataOf<N>>({
    ...queryOf(name, request),
    enabled: isEnabled,
    refetchInterval: (query) => (typeof everyMs === 'function' ? everyMs(query.state.data) : everyMs),
    // `as`: the library's own function returns what it is given.
    ...(keepsPrevious && { placeholderData: keepPreviousData as (before: unknown) => never }),
  });
}

type Known<T> = Pick<UseQueryResult<T>, 'data' | 'error' | 'dataUpdatedAt'> & { readonly refetch: () => unknown };

export function loadOf<T>({ data, error, dataUpdatedAt, refetch }: Known<T>, resume: () => void): Load<T> {
  if (data !== undefined) {
    return { kind: 'ready', data, staleSince: error === null ? undefined : dataUpdatedAt };
  }
  if (error === null) return { kind: 'loading' };
  const onRetry = () => {
    resume();
    void refetch(); // its failure is shown by the query
  };
  return { kind: 'failed', problem: problemOf(error), onRetry };
}

interface PageData {
  readonly list: readonly unknown[];
  readonly next: string;
}

/** Operations whose answer is a part of a list, and where the next begins. */
type ListName = {
  [N in RouteName]: DataOf<N> extends PageData ? N : never;
}[RouteName];
type RowOf<N extends ListName> = DataOf<N>['list'][number];

interface Pages<N extends ListName> {
  /** The rows that were read so far. */
  readonly load: Load<readonly RowOf<N>[]>;
  /** The answer with the first of them. */
  readonly first: DataOf<N> | undefined;
  /** The answer with the last of them. */
  readonly last: DataOf<N> | undefined;
  /** All answers so far. */
  readonly answers: readonly DataOf<N>[];
  readonly hasMore: boolean;
  readonly isBusy: boolean;
  readonly onMore: () => void;
}

/**
 * A list that is read on from where its last answer ended, which the request names in its field `cursor`. `everyMs`: at which interval the rows
 * so far are read again while the page is seen.
 */
export function usePages<N extends ListName>(
  name: N,
  request: CallOf<N>,
  cursor: 'after' | 'before' | 'cursor',
  everyMs: (rows: readonly RowOf<N>[]) => number | false = () => false,
): Pages<N> {
  const { caller } = useServices();
  const locale = usePreference('locale');
  const query = useInfiniteQuery({
    queryKey: [name, request, locale, 'pages'],
    queryFn: ({ signal, pageParam }) =>
      caller.call(name, pageParam === '' ? request : { ...request, [cursor]: pageParam }, { signal }),
    initialPageParam: '',
    getNextPageParam: ({ next }) => (next === '' ? undefined : next),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => everyMs(state.data?.pages.flatMap(({ list }): readonly RowOf<N>[] => list) ?? []),
  });
  const known = { ...query, data: query.data?.pages.flatMap(({ list }): readonly RowOf<N>[] => list) };
  return {
    load: loadOf(known, caller.resume),
    first: query.data?.pages[0],
    last: query.data?.pages.at(-1),
    answers: query.data?.pages ?? [],
    hasMore: query.hasNextPage,
    isBusy: query.isFetchingNextPage,
    onMore: () => void query.fetchNextPage(), // its failure is shown by the query
  };
}

/** A change; when it is done, what it may have changed is read again. */
export function useChange<N extends RouteName>(name: N) {
  const { caller } = useServices();
  const queries = useQueryClient();
  const key = useRef({ request: '', id: '' });
  return useMutation<DataOf<N>, Error, CallOf<N>>({
    mutationFn: async (request) => {
      // The same request that is sent again, since its answer was lost, is done once.
      const text = JSON.stringify(request);
      if (key.current.request !== text) key.current = { request: text, id: crypto.randomUUID() };
      return await caller.call(name, request, ADDING.has(name) ? { idempotencyKey: key.current.id } : {});
    },
    onSuccess: () => {
      key.current = { request: '', id: '' };
      void queries.invalidateQueries({ predicate: ({ queryKey: [read] }) => isTouched(String(read), name) });
    },
  });
}

/** Reads now, whatever is kept, and keeps it. */
export function useFresh<N extends RouteName>(name: N): (request: CallOf<N>) => Promise<DataOf<N>> {
  const queries = useQueryClient();
  const queryOf = useQueryOf();
  return async (request) => await queries.fetchQuery<DataOf<N>>({ ...queryOf(name, request), staleTime: 0 });
}

/** Something that is asked when a person wants it: a check, a dry run. Changes nothing. */
export function useAsk<N extends RouteName>(name: N) {
  const { caller } = useServices();
  return useMutation<DataOf<N>, Error, CallOf<N>>({ mutationFn: (request) => caller.call(name, request) });
}

/** Somebody else has made another revision of the settings. */
export function isChangedMeanwhile(error: unknown): boolean {
  return error instanceof ClientError && (error.code === 'revisionChanged' || error.code === 'smsRevisionChanged');
}

function isTransient(error: unknown): boolean {
  return error instanceof ClientError && (error.kind === 'unreachable' || error.kind === 'timeout');
}

const FORBIDDEN: readonly string[] = [
  'scopeMissing',
  'accessMissing',
  'domainsLimited',
  'roleLacksAccess',
  'lookReadOnly',
  'secondFactorNeeded',
];

export function problemOf(error: unknown): Problem {
  if (!(error instanceof ClientError)) return { kind: 'error', text: String(error) };
  const { kind, code = '', info, requestId } = error;
  const text = info;
  if (kind === 'unreachable' || kind === 'timeout') return { kind: 'offline', text, requestId };
  if (FORBIDDEN.includes(code)) return { kind: 'forbidden', text, requestId };
  return { kind: code.endsWith('NotFound') ? 'missing' : 'error', text, requestId };
}
