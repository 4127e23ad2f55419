/** The members of the account in view: their roles, and the invitations that wait. */
import { useState } from 'react';
import type { DataOf } from '#contract/operations.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Field } from '../../components/field.tsx';
import { Empty, Loaded } from '../../components/loaded.tsx';
import { Menu } from '../../components/menu.tsx';
import { Notice } from '../../components/notice.tsx';
import { Page } from '../../components/page.tsx';
import { Switch } from '../../components/switch.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { problemOf, useChange, useRead } from '../../queries.ts';
import { useSession } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { membersText } from '../../text/members.ts';
import { shellText } from '../../text/shell.ts';
import { Invitations } from './invitations.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { type Asked, MemberDialog } from './member-dialog.tsx';

export type Member = DataOf<'member.list'>['list'][number];

export function Members() {
  const t = useText(membersText);
  const load = useRead('member.list', {});
  const [isInviting, setInviting] = useState(false);
  const [asked, setAsked] = useState<Asked>();
  const mayManage = useSession().access.includes('manage');
  const columns = useColumns(setAsked);
  return (
    <Page
      title={t.title}
      actions={
        mayManage && (
          <Button kind="primary" icon="plus" onClick={() => setInviting(true)}>
            {t.invite}
          </Button>
        )
      }
    >
      <p className="help">{t.help}</p>
      <Card isFlush>
        <Loaded
          load={load}
          lines={6}
          isEmpty={({ list, invitations }) => list.length === 0 && invitations.length === 0}
          empty={<Empty icon="members" title={t.none} text={t.noneHelp} />}
        >
          {({ list, second_factor }) => (
            <>
              <Table
                label={t.title}
                columns={columns}
                rows={list}
                keyOf={({ person_id }) => person_id}
                nameOf={nameOf}
              />
              <SecondFactorSwitch isOn={second_factor === '1'} />
            </>
          )}
        </Loaded>
      </Card>
      {load.kind === 'ready' && load.data.invitations.length > 0 && <Invitations list={load.data.invitations} />}
      {isInviting && <InviteDialog onClose={() => setInviting(false)} />}
      {asked && <MemberDialog asked={asked} onClose={() => setAsked(undefined)} />}
    </Page>
  );
}

export function nameOf({ name, email }: Pick<Member, 'name' | 'email'>): string {
  return name || email;
}

function useColumns(onAsk: (asked: Asked) => void): readonly Column<Member>[] {
  const t = useText(membersText);
  const shell = useText(shellText);
  const self = useSession().person?.person_id;
  return [
    {
      id: 'person',
      title: t.person,
      phone: 'first',
      show: ({ person_id, name, email, disabled }) => (
        <>
          {name} <span className="mono dim">{email}</span>{' '}
          {person_id === self && <span className="dim">({t.you})</span>}
          {disabled === '1' && <Badge tone="warn">{t.disabled}</Badge>}
        </>
      ),
    },
    { id: 'role', title: t.role, show: ({ role }) => shell.roles[role] ?? role },
    {
      id: 'second',
      title: t.secondFactor,
      phone: 'hidden',
      show: ({ has_second_factor }) => (has_second_factor === '1' ? t.has : <span className="dim">{t.lacks}</span>),
    },
    {
      id: 'seen',
      title: t.seen,
      show: ({ seen_at }) =>
        seen_at === 0 ? <span className="dim">{t.never}</span> : <Time at={seen_at} isRelative />,
    },
    {
      id: 'actions',
      title: '',
      phone: 'second',
      isNumber: true,
      show: (member) => {
        const item = (title: string, act: Asked['act']) => ({ title, onChoose: () => onAsk({ act, member }) });
        const items = [item(t.changeRole, 'role'), item(t.reset, 'reset'), item(t.remove, 'remove')];
        return <Menu label={nameOf(member)} icon="more" groups={[{ items }]} />;
      },
    },
  ];
}

function SecondFactorSwitch({ isOn }: { readonly isOn: boolean }) {
  const t = useText(membersText);
  const set = useChange('member.setSecondFactor');
  return (
    <>
      <Field isRow label={t.needsSecondFactor} help={t.needsSecondFactorHelp}>
        {(ids) => (
          <Switch ids={ids} isOn={isOn} onChange={(required) => set.mutate({ required: required ? '1' : '0' })} />
        )}
      </Field>
      {set.error && <Notice tone="bad">{problemOf(set.error).text}</Notice>}
    </>
  );
}
