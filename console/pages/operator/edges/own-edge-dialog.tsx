/** An edge whose certificate is of the operator's own authority: it is made known, and needs no token. docs/fleet.md */
import { FLEET_OPERATOR_OPERATIONS } from '#contract/operators/fleet-operator-operations.ts';
import { FormDialog } from '../../../forms/form-dialog.tsx';
import { useRead } from '../../../queries.ts';
import { useServices } from '../../../services.tsx';
import { useText } from '../../../text/catalogue.ts';
import { OWN_EDGE_WORDS } from '../../../text/edge-fields.ts';
import { edgesText } from '../../../text/edges.ts';

export function OwnEdgeDialog({ onClose }: { readonly onClose: () => void }) {
  const t = useText(edgesText);
  const { toasts } = useServices();
  const groups = useRead('groupOperator.list', {});
  const names = groups.kind === 'ready' ? groups.data.list.map(({ name }) => name) : [];
  if (groups.kind === 'loading') return null; // the form begins with the first group
  return (
    <FormDialog
      title={t.addOwn}
      help={t.addOwnHelp}
      action={t.add}
      name="fleetOperator.addEdge"
      contract={FLEET_OPERATOR_OPERATIONS['fleetOperator.addEdge'].request}
      words={OWN_EDGE_WORDS}
      initial={{ edge_id: '', group: names[0] ?? '' }}
      choices={{ group: names }}
      onDone={() => {
        toasts.show({ about: 'edges', title: t.ownAdded });
        onClose();
      }}
      onClose={onClose}
    />
  );
}
