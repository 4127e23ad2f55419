/**
 * Where a link that is good once leads: to become a member of an account, or to set a new password. Its secret stands
 * behind `#` in the address, and leaves the browser in calls alone. docs/decisions/0665
 */
import { useState } from 'react';
import type { DataOf } from '#contract/operations.ts';
import { Loaded } from '../../components/loaded.tsx';
import { Time } from '../../components/time.tsx';
import { useRead } from '../../queries.ts';
import { useText } from '../../text/catalogue.ts';
import { shellText } from '../../text/shell.ts';
import { welcomeText } from '../../text/welcome.ts';
import { EntryPage } from '../sign-in/entry-page.tsx';
import { JoinAsKnown } from './join-as-known.tsx';
import { JoinAsNew } from './join-as-new.tsx';
import { ResetForm } from './reset-form.tsx';

export interface LinkProps {
  readonly secret: string;
  readonly link: DataOf<'invitation.get'>;
}

export function Welcome() {
  const t = useText(welcomeText);
  const [secret] = useState(() => location.hash.slice(1));
  const load = useRead('invitation.get', { secret }, { keepsPrevious: true });
  const isReset = load.kind === 'ready' && load.data.kind === 'password';
  return (
    <EntryPage title={isReset ? t.resetTitle : t.title}>
      <Loaded load={load} lines={4}>
        {(link) => <Link {...{ secret, link }} />}
      </Loaded>
    </EntryPage>
  );
}

function Link({ secret, link }: LinkProps) {
  const t = useText(welcomeText);
  const shell = useText(shellText);
  const { kind, email, account_name, role, is_known, expires_at } = link;
  if (kind === 'password') return <ResetForm {...{ secret, link }} />;
  return (
    <>
      <p>{t.invited(email, account_name)}</p>
      <p className="help">
        {t.role(shell.roles[role] ?? role)}
        <br />
        {t.expires} <Time at={expires_at} />
      </p>
      {is_known === '1' ? <JoinAsKnown {...{ secret, link }} /> : <JoinAsNew {...{ secret, link }} />}
    </>
  );
}
