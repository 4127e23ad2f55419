/** Revoking an edge for good, with a reason that its events keep. */
import { useState } from 'react';
import { Field } from '../../../components/field.tsx';
import { TextInput } from '../../../components/input.tsx';
import { ConfirmChange } from '../../../forms/confirm-change.tsx';
import { useText } from '../../../text/catalogue.ts';
import { edgesText } from '../../../text/edges.ts';

interface RevokeDialogProps {
  readonly edgeId: string;
  readonly onClose: () => void;
}

export function RevokeDialog({ edgeId, onClose }: RevokeDialogProps) {
  const t = useText(edgesText);
  const [reason, setReason] = useState('');
  return (
    <ConfirmChange
      title={t.revokeTitle(edgeId)}
      action={t.revoke}
      name="fleetOperator.revokeEdge"
      request={{ edge_id: edgeId, reason: reason.trim() }}
      typed={{ label: t.typeName, name: edgeId }}
      fields={
        <Field label={t.revokeReason} help={t.revokeReasonHelp}>
          {(ids) => <TextInput ids={ids} value={reason} onChange={(event) => setReason(event.target.value)} />}
        </Field>
      }
      onClose={onClose}
    >
      {t.revokeHelp}
    </ConfirmChange>
  );
}
