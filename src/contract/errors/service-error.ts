/** How a call fails: by a row of the table of errors, with what its text names. */

import type { Locale, Localized } from '../schema/locale.ts';
import { ERRORS, type ErrorCode } from './errors.ts';

export type ErrorParameters = Readonly<Record<string, string | number | Localized>>;

type ParametersOf<C extends ErrorCode> = Readonly<
  Record<PlaceholdersOf<(typeof ERRORS)[C]['text']['en']>, string | number | Localized>
>;

/** A call that fails by a row of the table. `api/calls/dispatch.ts` turns it into the answer. */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly parameters: ErrorParameters;

  constructor(...[code, parameters]: ServiceErrorArguments) {
    super(describeError(code, parameters ?? {}, 'en'));
    this.code = code;
    this.parameters = parameters ?? {};
  }

  /** The same error with other values for some of its parameters. */
  with(parameters: ErrorParameters): ServiceError {
    // `as`: the code has all of them.
    return new ServiceError(...([this.code, { ...this.parameters, ...parameters }] as ServiceErrorArguments));
  }
}

/** The code and exactly the parameters that its text has. */
type ServiceErrorArguments = {
  [C in ErrorCode]: keyof ParametersOf<C> extends never
    ? [code: C, parameters?: undefined]
    : [code: C, parameters: ParametersOf<C>];
}[ErrorCode];

/** The text of an error in one language. */
export function describeError(code: ErrorCode, parameters: ErrorParameters, locale: Locale): string {
  return ERRORS[code].text[locale].replace(/\{(\w+)\}/g, (placeholder, name: string) => {
    const value = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
    if (value === undefined) return placeholder;
    return typeof value === 'object' ? value[locale] : String(value);
  });
}

type PlaceholdersOf<T extends string> = T extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PlaceholdersOf<Rest>
  : never;
