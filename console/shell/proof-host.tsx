/** Shows the question for a proof while a call waits for one. Its code is loaded then. */
import { Later } from '../components/later.tsx';
import { lazily } from '../lib/lazily.ts';
import { useStore } from '../lib/store.ts';
import { useServices } from '../services.tsx';

const ProofDialog = lazily(async () => (await import('../pages/sign-in/proof-dialog.tsx')).ProofDialog);

export function ProofHost() {
  const isWanted = useStore(useServices().proofs.isWanted);
  return <Later as="floating">{isWanted && <ProofDialog />}</Later>;
}
