/** How an edge is added here: by a token, or with a certificate of the operator's own authority. */
import { useRead } from '../../../queries.ts';
import { EnrolDialog } from './enrol-dialog.tsx';
import { hasOwnAuthority } from './enrolment.ts';
import { OwnEdgeDialog } from './own-edge-dialog.tsx';

export function AddEdge({ onClose }: { readonly onClose: () => void }) {
  const settings = useRead('operator.getSettings', {});
  if (settings.kind === 'loading') return null;
  const isOwn = settings.kind === 'ready' && hasOwnAuthority(settings.data.list);
  return isOwn ? <OwnEdgeDialog onClose={onClose} /> : <EnrolDialog onClose={onClose} />;
}
