/** Everybody who signs in to this installation: found by name or address, let in again, kept out. */
import { useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import type { DataOf } from '#contract/operations.ts';
import { Badge } from '../../../components/badge.tsx';
import { Button } from '../../../components/button.tsx';
import { Card } from '../../../components/card.tsx';
import { SearchInput } from '../../../components/input.tsx';
import { Empty, Loaded } from '../../../components/loaded.tsx';
import { Menu } from '../../../components/menu.tsx';
import { Page } from '../../../components/page.tsx';
import { Pager } from '../../../components/pager.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { Time } from '../../../components/time.tsx';
import { useTyped } from '../../../lib/use-typed.ts';
import { useRead } from '../../../queries.ts';
import { accountPath, peoplePath, readPeopleQuery } from '../../../routes/operators.ts';
import { useSession } from '../../../services.tsx';
import { useText } from '../../../text/catalogue.ts';
import { peopleText } from '../../../text/people.ts';
import { shellText } from '../../../text/shell.ts';
import { PersonDialog } from '../accounts/person-dialog.tsx';
import { type Asked, AskedDialog, nameOf, useEnable } from './person-acts.tsx';

export type Person = DataOf<'operator.listPersons'>['list'][number];

const PAGE_SIZE = 50;

export function People() {
  const t = useText(peopleText);
  const [, navigate] = useLocation();
  const { text, page } = readPeopleQuery(useSearch());
  const [isAdding, setAdding] = useState(false);
  const [asked, setAsked] = useState<Asked>();
  const typed = useTyped(text, (next) => navigate(peoplePath({ text: next }), { replace: true }));
  const load = useRead('operator.listPersons', { text, page, page_size: PAGE_SIZE }, { keepsPrevious: true });
  const columns = useColumns(setAsked);
  return (
    <Page
      title={t.title}
      note={
        <span className="dim" role="status">
          {load.kind === 'ready' && t.count(load.data.total)}
        </span>
      }
      actions={
        <Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
          {t.add}
        </Button>
      }
    >
      <p className="help">{t.help}</p>
      <search className="row">
        <SearchInput label={t.search} {...typed} />
      </search>
      <Card isFlush>
        <Loaded
          load={load}
          lines={8}
          isEmpty={({ list }) => list.length === 0}
          empty={
            text === '' ? (
              <Empty icon="members" title={t.none} text={t.noneHelp} />
            ) : (
              <Empty icon="search" title={t.noMatch} text={t.noMatchHelp} />
            )
          }
        >
          {({ list, total }) => (
            <>
              <Table
                label={t.title}
                columns={columns}
                rows={list}
                keyOf={({ person_id }) => person_id}
                nameOf={nameOf}
              />
              <Pager {...{ page, total }} pageSize={PAGE_SIZE} pathOf={(other) => peoplePath({ text, page: other })} />
            </>
          )}
        </Loaded>
      </Card>
      {isAdding && <PersonDialog onClose={() => setAdding(false)} />}
      {asked && <AskedDialog {...asked} onClose={() => setAsked(undefined)} />}
    </Page>
  );
}

function useColumns(onAsk: (asked: Asked) => void): readonly Column<Person>[] {
  const t = useText(peopleText);
  const self = useSession().person?.person_id;
  return [
    {
      id: 'person',
      title: t.person,
      phone: 'first',
      show: ({ person_id, name, email }) => (
        <>
          {name} <span className="mono dim wrap">{email}</span>{' '}
          {person_id === self && <span className="dim">({t.you})</span>}
        </>
      ),
    },
    {
      id: 'state',
      title: t.state,
      show: ({ disabled }) =>
        disabled === '1' ? <Badge tone="bad">{t.disabled}</Badge> : <Badge tone="ok">{t.enabled}</Badge>,
    },
    { id: 'accounts', title: t.memberships, show: ({ memberships }) => <Memberships list={memberships} /> },
    {
      id: 'second',
      title: t.secondFactor,
      phone: 'hidden',
      show: ({ has_second_factor }) => (has_second_factor === '1' ? t.has : <span className="dim">{t.lacks}</span>),
    },
    {
      id: 'seen',
      title: t.seen,
      phone: 'hidden',
      show: ({ seen_at }) =>
        seen_at === 0 ? <span className="dim">{t.never}</span> : <Time at={seen_at} isRelative />,
    },
    {
      id: 'created',
      title: t.createdAt,
      phone: 'hidden',
      show: ({ created_at }) => <Time at={created_at} isRelative />,
    },
    {
      id: 'actions',
      title: t.actions,
      phone: 'second',
      show: (person) => <Acts person={person} isSelf={person.person_id === self} onAsk={onAsk} />,
    },
  ];
}

function Memberships({ list }: { readonly list: Person['memberships'] }) {
  const t = useText(peopleText);
  const { roles } = useText(shellText);
  if (list.length === 0) return <span className="dim">{t.noMembership}</span>;
  return list.map(({ account_id, role }, n) => (
    <span key={account_id}>
      {n > 0 && ', '}
      <Link href={accountPath(account_id)}>{t.account(account_id, roles[role] ?? role)}</Link>
    </span>
  ));
}

interface ActsProps {
  readonly person: Person;
  /** Nobody disables themselves. */
  readonly isSelf: boolean;
  readonly onAsk: (asked: Asked) => void;
}

function Acts({ person, isSelf, onAsk }: ActsProps) {
  const t = useText(peopleText);
  const enable = useEnable(person);
  const items = [
    { title: t.reset, icon: 'tokens', onChoose: () => onAsk({ act: 'reset', person }) } as const,
    ...(person.disabled === '1' ? [{ title: t.enable, icon: 'play', onChoose: enable } as const] : []),
    ...(person.disabled === '0' && !isSelf
      ? [{ title: t.disable, icon: 'pause', onChoose: () => onAsk({ act: 'disable', person }) } as const]
      : []),
  ];
  return <Menu label={`${t.actions}: ${nameOf(person)}`} icon="more" groups={[{ items }]} />;
}
