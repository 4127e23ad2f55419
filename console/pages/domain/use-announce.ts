/** Tells how a change travels to the edges, and offers to undo it, for half a minute. */
import { useQueryClient } from '@tanstack/react-query';
import type { DataOf } from '#contract/operations.ts';
import { formatNumber } from '../../lib/format.ts';
import { useChange } from '../../queries.ts';
import { usePreference, useServices } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { commonText } from '../../text/common.ts';
import { domainText } from '../../text/domain.ts';
import type { DomainData } from './domain.tsx';

interface Applied {
  /** Revision that the change has made, and the one before it. */
  readonly revision: string;
  readonly before: string;
  /** What was changed, as `domain.revert` names it. */
  readonly names: readonly string[];
}

type Announce = (applied: Applied) => void;

const STAY_MS = 30_000;
const LOOK_MS = 250;
const LOOKS = 100;

export function useAnnounce({ domain_id, domain_name }: DomainData): Announce {
  const t = useText(domainText);
  const common = useText(commonText);
  const locale = usePreference('locale');
  const { caller, toasts } = useServices();
  const queries = useQueryClient();
  const revert = useChange('domain.revert');
  const about = `domain ${domain_id}`;

  const follow = async (revision: string, title: string, action?: Parameters<typeof toasts.show>[0]['action']) => {
    const show = (text: string) => toasts.show({ about, title: `${domain_name}: ${text}`, action, stayMs: STAY_MS });
    show(title);
    const began = performance.now();
    for (let n = 0; n < LOOKS; n += 1) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      const seen = await caller.call('domain.propagation', { domain_id });
      if (Number(seen.revision) > Number(revision)) return; // another change is on its way
      const text = describe(seen, performance.now() - began);
      if (seen.in_force === '1' || text !== undefined) show(text ?? title);
      if (seen.in_force === '1') break;
    }
    await queries.invalidateQueries({ queryKey: ['domain.get'] });
  };

  const describe = ({ in_force, counts }: DataOf<'domain.propagation'>, ms: number): string | undefined => {
    if (in_force === '1') return t.inForce(counts.done, formatNumber(ms / 1000, locale, 1));
    return counts.done > 0 ? t.partly(counts.done, counts.done + counts.waiting + counts.refused) : undefined;
  };

  return ({ revision, before, names }) => {
    const undo = async () => {
      const undone = await revert.mutateAsync({
        domain_id,
        to_revision: before,
        names: [...names],
        if_revision: revision,
      });
      await follow(undone.revision, t.undone);
    };
    const fail = (error: unknown) =>
      toasts.show({ about, title: String(error instanceof Error ? error.message : error) });
    const action = { title: common.undo, onChoose: () => void undo().catch(fail) };
    void follow(revision, t.travelling, action).catch(() => undefined); // the page shows that the service is away
  };
}
