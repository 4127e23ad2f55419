/** What would change if a domain is set back to an earlier revision, before it is. */
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Diff } from '../../components/diff.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Notice } from '../../components/notice.tsx';
import { problemOf, useChange, useRead } from '../../queries.ts';
import { useText } from '../../text/catalogue.ts';
import { commonText } from '../../text/common.ts';
import { domainViewsText } from '../../text/domain-views.ts';
import type { DomainData } from './domain.tsx';
import { useAnnounce } from './use-announce.ts';
import { useDifferences } from './use-differences.ts';

interface RevertDialogProps {
  readonly domain: DomainData;
  /** Revision to which the domain is set back. */
  readonly revision: string;
  readonly onClose: () => void;
}

export function RevertDialog({ domain, revision, onClose }: RevertDialogProps) {
  const t = useText(domainViewsText);
  const common = useText(commonText);
  const { domain_id } = domain;
  const revert = useChange('domain.revert');
  const announce = useAnnounce(domain);
  const found = useRead('domain.revert', {
    domain_id,
    to_revision: revision,
    if_revision: domain.revision,
    dry_run: 1,
  });
  const apply = async () => {
    const made = await revert.mutateAsync({ domain_id, to_revision: revision, if_revision: domain.revision });
    const names = made.changes.map(({ topic, name }) => `${topic}.${name}`);
    announce({ revision: made.revision, before: domain.revision, names });
    onClose();
  };
  return (
    <Dialog
      title={t.revertTitle(revision)}
      isOpen
      isWide
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button
            kind="primary"
            disabled={found.kind !== 'ready' || found.data.changes.length === 0}
            isBusy={revert.isPending}
            onClick={() => void apply().catch(() => undefined)} // shown above
          >
            {t.revert}
          </Button>
        </>
      }
    >
      <Loaded load={found} isEmpty={({ changes }) => changes.length === 0} empty={<p>{t.noDifference}</p>}>
        {({ changes, warnings, left_out }) => (
          <>
            <Differences changes={changes} />
            {warnings.map(({ code, text }) => (
              <Notice key={code} tone="warn">
                {text}
              </Notice>
            ))}
            {left_out.length > 0 && (
              <Notice tone="warn">
                {t.leftOut} {left_out.map(({ topic, name }) => `${topic}.${name}`).join(', ')}
              </Notice>
            )}
          </>
        )}
      </Loaded>
      {revert.error && <Notice tone="bad">{problemOf(revert.error).text}</Notice>}
    </Dialog>
  );
}

function Differences({ changes }: { readonly changes: Parameters<typeof useDifferences>[0] }) {
  return <Diff differences={useDifferences(changes)} />;
}
