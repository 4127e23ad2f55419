/**
 * Answers `causeway restart`: reads the settings again and replaces the edge workers and the live process of a running
 * service.
 */
import type { RestartAnswer } from '#cli/machine/restart-command.ts';
import type { Config } from '#config';
import type { Logger } from '#lib/logger.ts';
import type { StartMessage } from '../process/messages.ts';
import { planParts, planSuccessors } from '../process/process-plan.ts';
import { planRestart, type SettingsInForce } from './restart-plan.ts';
import type { Service } from './service.ts';

export type Reloaded =
  | { readonly kind: 'config'; readonly config: Config }
  | { readonly kind: 'problems'; readonly problems: readonly string[] };

export interface RestartOptions {
  /** Settings at the start of the service. */
  readonly settings: SettingsInForce;
  /** What all parts are started with. */
  readonly common: Pick<StartMessage, 'build' | 'localSecret'>;
  readonly service: Pick<Service, 'replaceGeneration' | 'renewFeed'>;
  /** Whether the supervisor holds the sockets of all processes that listen: without them some connections would be refused. */
  readonly holdsSockets: boolean;
  reload(): Reloaded;
  readonly log: Logger;
}

/** Returns a function that restarts the workers and the live process. It never rejects. */
export function createRestart(options: RestartOptions): (isForced: boolean) => Promise<RestartAnswer> {
  const { common, service, log } = options;
  let { settings } = options;
  return async (isForced) => {
    const { roles } = settings.running;
    if (!roles.includes('edge') && !roles.includes('live'))
      return failed('this service has neither an edge nor live streams');
    if (!options.holdsSockets)
      return failed(
        'this Node does not let the service hold the sockets of its listeners, so requests would be lost; restart the service instead',
      );
    const loaded = options.reload();
    if (loaded.kind === 'problems') return { kind: 'failed', problems: loaded.problems };
    const { taken, pending, renewsFeed, ...next } = planRestart(settings, loaded.config);
    const config = next.running;
    const replaced = await service.replaceGeneration({
      plan: (succession) => planSuccessors(config, common, succession),
      drain: { idleMs: config.drainIdleSeconds * 1000, limitMs: config.drainSeconds * 1000 },
      isForced,
    });
    if (replaced.kind === 'busy') return replaced;
    if (replaced.kind === 'failed') return failed(replaced.problem);
    settings = next;
    const feed = planParts(config, common).find(({ part }) => part === 'edge-feed');
    if (renewsFeed && feed !== undefined) await service.renewFeed(feed);
    log.info({ taken, pending }, 'restarted');
    return { kind: 'restarted', taken, pending };
  };
}

function failed(problem: string): RestartAnswer {
  return { kind: 'failed', problems: [problem] };
}
