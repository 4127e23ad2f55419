/** Selectors of our series in expressions of PromQL. */

export interface Selector {
  /** Name under which Prometheus stores it, with `_bucket` and the like. */
  readonly name: string;
  /** Labels of its matchers. */
  readonly labels: readonly string[];
}

/** Finds the series of the service in a text that has expressions; other words of the text are left out. */
export function findSelectors(text: string): Selector[] {
  return [...text.matchAll(/\b(causeway_\w+)(?:\{((?:[^{}"]|"[^"]*")*)\})?/g)].map(([, name = '', matchers = '']) => ({
    name,
    labels: [...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g)].map(([, label = '']) => label),
  }));
}
