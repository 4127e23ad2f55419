/**
 * Statements that Kysely makes once: their text depends on nothing but the engine, and what changes is put in its place each
 * time. Making one takes longer than most of them run. docs/decisions/0360
 */
import { type CompiledQuery, type RawBuilder, sql } from 'kysely';
import { isPostgres } from '../engines/engine.ts';
import { makeLasting } from '../engines/postgres/named-statements.ts';
import type { Row } from '../engines/sqlite/rows-query.ts';
import type { Executor } from '../schema/schema.ts';
import { idsText, inIdsOf, rowsOf, rowsText } from './row-list.ts';
import type { Statement } from './together.ts';

/** A `value`; `ids`: to stand behind a column of whole numbers, see `inIds`; `rows`: to be selected from, see `rowList`. */
type Kind = 'value' | 'ids' | 'rows';

interface Given {
  readonly value: string | number | null;
  readonly ids: readonly number[];
  readonly rows: readonly Row[];
}

/** `write` runs once for each engine. */
export function prepare<K extends Readonly<Record<string, Kind>>, T>(
  kinds: K,
  write: (places: { readonly [N in keyof K]: RawBuilder<unknown> }, x: Executor) => RawBuilder<T>,
): (given: { readonly [N in keyof K]: Given[K[N]] }) => Statement<T> {
  const made = new Map<boolean, CompiledQuery<T>>();
  const make = (x: Executor) => {
    const places = Object.entries(kinds).map(([name, kind]) => [name, placeOf(x, kind, new Place(name))]);
    // `as`: the names are those of K.
    return write(Object.fromEntries(places) as Parameters<typeof write>[0], x).compile(x);
  };
  return (given) => ({
    compile(x) {
      const engine = isPostgres(x);
      let compiled = made.get(engine);
      if (compiled === undefined) {
        compiled = make(x);
        made.set(engine, compiled);
        if (engine) makeLasting(compiled.sql);
      }
      const parameterOf = (value: unknown) =>
        value instanceof Place ? toParameter(x, kinds[value.name], given[value.name]) : value;
      return { ...compiled, parameters: compiled.parameters.map(parameterOf) };
    },
  });
}

class Place {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

function placeOf(x: Executor, kind: Kind, place: Place): RawBuilder<unknown> {
  if (kind === 'ids') return inIdsOf(x, sql.val(place));
  return kind === 'rows' ? rowsOf(x, sql.val(place)) : sql.val(place);
}

function toParameter(x: Executor, kind: Kind | undefined, given: unknown): unknown {
  // `as`: the types of `prepare` say which it is.
  if (kind === 'ids') return idsText(x, given as readonly number[]);
  return kind === 'rows' ? rowsText(given as readonly Row[]) : given;
}
