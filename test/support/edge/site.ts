/** One site at an edge of its own, with one scripted origin: what most tests of the edge begin with. */
import type { TestContext } from 'node:test';
import type { SiteSpec } from '../../../src/sites/spec.ts';
import { SITE_HOST, startTestEdge, type TestEdge, type TestEdgeOptions } from './edge.ts';
import { type Answer, type ScriptedOrigin, startOrigin } from './origin.ts';

export interface TestSite {
  readonly edge: TestEdge;
  readonly origin: ScriptedOrigin;
}

export interface SiteOptions extends TestEdgeOptions {
  /** Settings of the site. */
  readonly site?: Partial<SiteSpec>;
}

/** The site is `www.example.com`. */
export async function startSite(
  t: Pick<TestContext, 'after'>,
  script: Answer,
  { site, ...options }: SiteOptions = {},
): Promise<TestSite> {
  const origin = await startOrigin(t, script);
  const edge = await startTestEdge(t, [origin.port], options);
  if (site !== undefined) edge.put({ name: SITE_HOST, ...site });
  return { origin, edge };
}
