/** What an operator does for a person, or against one: a link for a new password, disabling, enabling. */
import { useState } from 'react';
import type { DataOf } from '#contract/operations.ts';
import { PEOPLE_OPERATOR_OPERATIONS } from '#contract/people/member-operations.ts';
import { ConfirmChange } from '../../../forms/confirm-change.tsx';
import { FormDialog } from '../../../forms/form-dialog.tsx';
import { useAtOnce } from '../../../forms/use-at-once.ts';
import { useServices } from '../../../services.tsx';
import { useText } from '../../../text/catalogue.ts';
import { peopleText, RESET_WORDS } from '../../../text/people.ts';
import { ShownLink } from '../../members/shown-link.tsx';
import type { Person } from './people.tsx';

export interface Asked {
  readonly act: 'reset' | 'disable';
  readonly person: Person;
}

interface ActProps {
  readonly person: Person;
  readonly onClose: () => void;
}

export function nameOf({ name, email }: Pick<Person, 'name' | 'email'>): string {
  return name || email;
}

export function AskedDialog({ act, person, onClose }: Asked & ActProps) {
  switch (act) {
    case 'reset':
      return <ResetDialog person={person} onClose={onClose} />;
    case 'disable':
      return <DisableDialog person={person} onClose={onClose} />;
  }
}

function ResetDialog({ person, onClose }: ActProps) {
  const t = useText(peopleText);
  const [made, setMade] = useState<DataOf<'operator.resetPerson'>>();
  if (made) return <ShownLink link={made.link} expiresAt={made.expires_at} help={t.linkHelp} onClose={onClose} />;
  return (
    <FormDialog
      title={t.resetTitle(nameOf(person))}
      help={t.resetHelp}
      action={t.makeLink}
      name="operator.resetPerson"
      contract={PEOPLE_OPERATOR_OPERATIONS['operator.resetPerson'].request}
      words={RESET_WORDS}
      initial={{ person_id: person.person_id, second_factor: '0' }}
      onDone={setMade}
      onClose={onClose}
    />
  );
}

function DisableDialog({ person, onClose }: ActProps) {
  const t = useText(peopleText);
  const { toasts } = useServices();
  return (
    <ConfirmChange
      title={t.disableTitle(nameOf(person))}
      action={t.disable}
      name="operator.setPersonStatus"
      request={{ person_id: person.person_id, enabled: '0' }}
      onDone={() => toasts.show({ about: aboutOf(person), title: t.wasDisabled(nameOf(person)) })}
      onClose={onClose}
    >
      {t.disableHelp}
    </ConfirmChange>
  );
}

/** Lets somebody in again. */
export function useEnable(person: Person) {
  const t = useText(peopleText);
  const { run } = useAtOnce('operator.setPersonStatus');
  const name = nameOf(person);
  const telling = { about: aboutOf(person), name, done: t.wasEnabled(name) };
  return () => run({ person_id: person.person_id, enabled: '1' }, telling);
}

function aboutOf({ person_id }: Person): string {
  return `person ${person_id}`;
}
