/** A token for new edges: made, then shown once with what is run on the machine. */
import { useState } from 'react';
import { FLEET_OPERATOR_OPERATIONS } from '#contract/operators/fleet-operator-operations.ts';
import { CopyBox } from '../../../components/copy.tsx';
import { Notice } from '../../../components/notice.tsx';
import { ShownOnce } from '../../../components/shown-once.tsx';
import { FormDialog } from '../../../forms/form-dialog.tsx';
import { useRead } from '../../../queries.ts';
import { useText } from '../../../text/catalogue.ts';
import { EDGE_TOKEN_WORDS } from '../../../text/edge-fields.ts';
import { edgesText } from '../../../text/edges.ts';
import { controlAddress, enrolCommands } from './enrolment.ts';

const HOUR_SECONDS = '3600';

export function EnrolDialog({ onClose }: { readonly onClose: () => void }) {
  const t = useText(edgesText);
  const [made, setMade] = useState('');
  const groups = useRead('groupOperator.list', {});
  const names = groups.kind === 'ready' ? groups.data.list.map(({ name }) => name) : [];
  if (made !== '') {
    return (
      <ShownOnce title={t.tokenTitle} secret={made} onKept={onClose}>
        <p className="help">{t.save}</p>
        <Commands />
      </ShownOnce>
    );
  }
  if (groups.kind === 'loading') return null; // the form begins with the first group
  return (
    <FormDialog
      title={t.createToken}
      help={t.createTokenHelp}
      action={t.createToken}
      name="fleetOperator.createToken"
      contract={FLEET_OPERATOR_OPERATIONS['fleetOperator.createToken'].request}
      words={EDGE_TOKEN_WORDS}
      initial={{ edge_id: '', group: names[0] ?? '', uses: '1', valid_seconds: HOUR_SECONDS, replace: '0' }}
      choices={{ group: names }}
      onDone={({ edge_token }) => setMade(edge_token)}
      onClose={onClose}
    />
  );
}

function Commands() {
  const t = useText(edgesText);
  const settings = useRead('operator.getSettings', {});
  if (settings.kind !== 'ready') return null;
  const control = controlAddress(settings.data.list, location.hostname);
  if (control === undefined) return <Notice tone="warn">{t.noListener}</Notice>;
  return (
    <>
      <p className="help">{t.run}</p>
      <CopyBox text={enrolCommands(control)} what={t.run} />
    </>
  );
}
