/** Answers `causeway restart`: reads the settings again and replaces the edge workers of a running service. */
import type { RestartAnswer } from '#cli/restart-command.ts';
import type { Config } from '#config';
import type { Logger } from '#lib/logger.ts';
import type { StartMessage } from './messages.ts';
import { planParts, planSuccessors } from './process-plan.ts';
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
  readonly service: Pick<Service, 'replaceWorkers' | 'renewFeed'>;
  /** Whether the supervisor holds the sockets of all workers. Otherwise a restart would refuse some connections. */
  readonly holdsSockets: boolean;
  reload(): Reloaded;
  readonly log: Logger;
}

/** Returns a function that restarts the workers. It never rejects. */
export function createRestart(options: RestartOptions): (isForced: boolean) => Promise<RestartAnswer> {
  const { common, service, log } = options;
  let { settings } = options;
  return async (isForced) => {
    if (!settings.running.roles.includes('edge')) return failed('this service has no edge');
    if (!options.holdsSockets)
      return failed(
        'this Node does not let the service hold the sockets of its listeners, so requests would be lost; restart the service instead',
      );
    const loaded = options.reload();
    if (loaded.kind === 'problems') return { kind: 'failed', problems: loaded.problems };
    const { taken, pending, renewsFeed, ...next } = planRestart(settings, loaded.config);
    const config = next.running;
    const replaced = await service.replaceWorkers({
      plan: (generation) => planSuccessors(config, common, generation),
      drain: { idleMs: config.drainIdleSeconds * 1000, limitMs: config.drainSeconds * 1000 },
      isForced,
    });
    if (replaced.kind === 'busy') return replaced;
    if (replaced.kind === 'failed') return failed(replaced.problem);
    settings = next;
    const feed = planParts(config, common).find(({ part }) => part === 'edge-feed');
    if (renewsFeed && feed !== undefined) await service.renewFeed(feed);
    log.info({ taken, pending }, 'restarted the edge workers');
    return { kind: 'restarted', taken, pending };
  };
}

function failed(problem: string): RestartAnswer {
  return { kind: 'failed', problems: [problem] };
}
