/** The way of every command that shows or changes one domain of the account: find it, act, perhaps wait, print. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '#client/transport.ts';
import { CLOSING_LABEL, PENDING_LABEL } from '#contract/domains/labels.ts';
import type { DataOf } from '#contract/operations.ts';
import { connectCustomer } from './connect.ts';
import { type CliContext, CliError } from './context.ts';
import { findDomainId } from './find-domain.ts';
import { givenSettings, type Options } from './options.ts';
import { printer } from './run-operation.ts';

export const WAIT_MEANING = 'wait until every edge runs the change';

/** Longer than an edge that has died can hold a change back. */
const WAIT_LIMIT_MS = 60_000;
const WAIT_POLL_MS = 200;

/** What is printed: as JSON, or for people. */
export interface Shown {
  readonly data: unknown;
  readonly lines: readonly string[];
}

/** `work` changes the domain, if anything is asked to be changed, and reads what is to be shown. */
export async function onDomain(
  context: CliContext,
  domain: string,
  options: Options,
  work: (client: Client, id: string) => Promise<Shown>,
): Promise<void> {
  const client = connectCustomer(context, givenSettings(context, options));
  const id = await findDomainId(client, domain);
  const { data, lines } = await work(client, id);
  if (options['wait'] === true) await waitForEdges(client, id);
  printer(context, options)(data, lines);
}

/** Returns the domain when its last change is in force. Does not wait for a review. */
export async function waitForEdges(client: Client, id: string): Promise<DataOf<'domain.get'>> {
  for (let waitedMs = 0; ; waitedMs += WAIT_POLL_MS) {
    const domain = await client.call('domain.get', { domain_id: id });
    if (Number(domain.domain_status) !== 1 && domain.status !== CLOSING_LABEL.en) return domain;
    if (domain.status === PENDING_LABEL.en) throw new CliError(`domain ${id} is waiting for an operator's review`);
    if (waitedMs >= WAIT_LIMIT_MS)
      throw new CliError(
        `not every edge runs the change of domain ${id} after ${WAIT_LIMIT_MS / 1000} s: ${describeWait(domain)}; it is still being applied`,
      );
    await delay(WAIT_POLL_MS);
  }
}

function describeWait({ waiting_for: edges = [] }: DataOf<'domain.get'>): string {
  return edges.length === 0 ? 'no edge that serves it is there' : `waiting for ${edges.join(', ')}`;
}
