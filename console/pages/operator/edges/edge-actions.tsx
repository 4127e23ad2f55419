/** What is done to an edge: drained, put back, removed, revoked; and one of two copies kept. */
import { useState } from 'react';
import { FLEET_OPERATOR_OPERATIONS } from '#contract/operators/fleet-operator-operations.ts';
import { Menu } from '../../../components/menu.tsx';
import { ConfirmChange } from '../../../forms/confirm-change.tsx';
import { FormDialog } from '../../../forms/form-dialog.tsx';
import { useAtOnce } from '../../../forms/use-at-once.ts';
import { useSession } from '../../../services.tsx';
import { useText } from '../../../text/catalogue.ts';
import { ACCEPT_WORDS } from '../../../text/edge-fields.ts';
import { edgesText } from '../../../text/edges.ts';
import type { EdgeRow } from './edge-state.tsx';
import { RevokeDialog } from './revoke-dialog.tsx';

type Asked = 'remove' | 'revoke' | 'accept' | undefined;
type Edge = Pick<EdgeRow, 'edge_id' | 'status'>;

interface EdgeActionsProps {
  readonly edge: Edge;
  readonly children?: React.ReactNode;
}

export function EdgeActions({ edge, children }: EdgeActionsProps) {
  const t = useText(edgesText);
  const { access } = useSession();
  const [asked, setAsked] = useState<Asked>();
  const setState = useAtOnce('edgeOperator.setState');
  const { edge_id, status } = edge;
  const isGone = status === 'revoked' || status === 'removed';
  const isDraining = status === 'draining' || status === 'drained';
  const order = (action: 'drain' | 'undrain', done: string) => () =>
    setState.run({ edge_id, action }, { about: `edge ${edge_id}`, name: edge_id, done });
  const drain = { title: t.drain, icon: 'pause', onChoose: order('drain', t.drained(edge_id)) } as const;
  const undrain = { title: t.undrain, icon: 'play', onChoose: order('undrain', t.undrained(edge_id)) } as const;
  const remove = { title: t.remove, icon: 'trash', onChoose: () => setAsked('remove') } as const;
  const accept = { title: t.accept, icon: 'check', onChoose: () => setAsked('accept') } as const;
  const revoke = { title: t.revoke, icon: 'security', onChoose: () => setAsked('revoke') } as const;
  const items = [
    ...(access.includes('write') && !isGone ? [isDraining ? undrain : drain] : []),
    ...(access.includes('manage') && status === 'suspect' ? [accept] : []),
    ...(access.includes('write') && status !== 'removed' ? [remove] : []),
    ...(access.includes('manage') && !isGone ? [revoke] : []),
  ];
  if (items.length === 0) return null;
  return (
    <>
      <Menu label={`${t.actions}: ${edge_id}`} icon="more" groups={[{ items }]}>
        {children}
      </Menu>
      <AskedDialog {...{ asked, edge }} onClose={() => setAsked(undefined)} />
    </>
  );
}

interface AskedDialogProps {
  readonly asked: Asked;
  readonly edge: Edge;
  readonly onClose: () => void;
}

function AskedDialog({ asked, edge: { edge_id, status }, onClose }: AskedDialogProps) {
  const t = useText(edgesText);
  const typed = { label: t.typeName, name: edge_id };
  switch (asked) {
    case undefined:
      return null;
    case 'remove':
      return (
        <ConfirmChange
          title={t.removeTitle(edge_id)}
          action={t.remove}
          name="edgeOperator.setState"
          request={{ edge_id, action: 'remove', ...(status === 'ready' && { force: '1' }) }}
          {...{ typed, onClose }}
        >
          {status === 'ready' ? `${t.removeReady} ${t.removeHelp}` : t.removeHelp}
        </ConfirmChange>
      );
    case 'revoke':
      return <RevokeDialog edgeId={edge_id} onClose={onClose} />;
    case 'accept':
      return (
        <FormDialog
          title={t.acceptTitle(edge_id)}
          help={t.acceptHelp}
          action={t.acceptAction}
          name="fleetOperator.acceptEdge"
          contract={FLEET_OPERATOR_OPERATIONS['fleetOperator.acceptEdge'].request}
          words={ACCEPT_WORDS}
          initial={{ edge_id, serial: '' }}
          onDone={onClose}
          onClose={onClose}
        />
      );
  }
}
