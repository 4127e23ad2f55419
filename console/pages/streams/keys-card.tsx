/** The keys of a live domain. They are read when somebody asks for them, since a key lets publish. */
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { CopyBox } from '../../components/copy.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Menu } from '../../components/menu.tsx';
import { useRead } from '../../queries.ts';
import { useText } from '../../text/catalogue.ts';
import { liveDomainText } from '../../text/live-domain.ts';
import { type Asked, KeyDialog } from './key-dialog.tsx';
import type { DomainPlace } from './live-domain.tsx';

const KINDS = ['publish', 'play'] as const;

export function KeysCard({ place }: { readonly place: DomainPlace }) {
  const t = useText(liveDomainText);
  const [isShown, setShown] = useState(false);
  return (
    <Card title={t.keys} actions={!isShown && <Button onClick={() => setShown(true)}>{t.show}</Button>}>
      <div className="stack">
        <p className="help">{t.keysHelp}</p>
        {isShown && <Keys place={place} />}
      </div>
    </Card>
  );
}

function Keys({ place }: { readonly place: DomainPlace }) {
  const load = useRead('liveOperator.getKeys', place);
  const [asked, setAsked] = useState<Asked>();
  return (
    <>
      <Loaded load={load} lines={4}>
        {(keys) => KINDS.map((kind) => <KeysOf key={kind} kind={kind} keys={keys[kind]} onAsk={setAsked} />)}
      </Loaded>
      {asked && <KeyDialog {...{ asked, place }} onClose={() => setAsked(undefined)} />}
    </>
  );
}

interface KeysOfProps {
  readonly kind: Asked['kind'];
  /** The primary one, then the secondary one. */
  readonly keys: readonly string[];
  readonly onAsk: (asked: Asked) => void;
}

function KeysOf({ kind, keys, onAsk }: KeysOfProps) {
  const t = useText(liveDomainText);
  const item = (title: string, action: Asked['action']) => ({
    title,
    onChoose: () => onAsk({ kind, action, hasKey: keys.length > 0 }),
  });
  const items = [
    item(t.rotate, 'rotate'),
    ...(keys.length > 1 ? [item(t.drop, 'drop_secondary')] : []),
    ...(keys.length > 0 ? [item(t.clear, 'clear')] : []),
  ];
  const names = [t.primary, t.secondary];
  return (
    <section className="stack">
      <div className="row">
        <h3>{t.kinds[kind]}</h3>
        <span className="grow" />
        <Menu label={t.acts(t.kinds[kind])} icon="more" groups={[{ items }]} />
      </div>
      {keys.length === 0 && <p className="help">{t.noKey[kind]}</p>}
      {keys.map((key, n) => (
        <div key={key}>
          <p className="help">{names[n]}</p>
          <CopyBox text={key} what={t.copyOf(t.kinds[kind], names[n] ?? '')} />
        </div>
      ))}
    </section>
  );
}
