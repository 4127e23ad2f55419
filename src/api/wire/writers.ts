/** The type of tables that say how results of handlers are answered. */
import type { DataOf } from '#contract/operations.ts';
import type { RouteName } from '#contract/routes.ts';
import type { Look } from './wire-domain.ts';

/**
 * One writer for each operation. An operation whose data is a boolean may be left out: its handler returns
 * nothing, and it answers `true`.
 */
export type Writers<R extends RouteName> = {
  readonly [N in R as DataOf<N> extends boolean ? never : N]: Writer<N>;
} & { readonly [N in R as DataOf<N> extends boolean ? N : never]?: Writer<N> };

type Writer<N extends RouteName> = (result: never, look: Look) => DataOf<N>;
