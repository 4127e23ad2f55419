/** One message: what happened to each of its parts, moving by itself. */
import { useParams } from 'wouter';
import { LinkButton } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { CopyButton } from '../../components/copy.tsx';
import { Facts } from '../../components/detail.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Notice } from '../../components/notice.tsx';
import { Page } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { useRead } from '../../queries.ts';
import { sendPath } from '../../routes/messaging.ts';
import { PATHS } from '../../routes.ts';
import { useSession } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { messagesText } from '../../text/messages.ts';
import { MessageState } from './message-state.tsx';
import { TimeLine } from './time-line.tsx';
import { useMoney } from './use-money.ts';

export function Message() {
  const t = useText(messagesText);
  const { sendid = '', number = '' } = useParams();
  const load = useRead('sms.getMessage', { sendid, mobile: number });
  const money = useMoney();
  const mayWrite = useSession().access.includes('write');
  return (
    <Page
      title={load.kind === 'ready' ? load.data.mobile : number}
      isName
      back={{ to: PATHS.messages, title: t.title }}
      note={load.kind === 'ready' && <MessageState state={load.data.status} />}
      actions={mayWrite && <LinkButton to={sendPath({ number })}>{t.sendAgain}</LinkButton>}
    >
      <Loaded load={load} lines={6}>
        {(message) => (
          <>
            {message.status === 'simulated' && <Notice tone="warn">{t.simulatedNote}</Notice>}
            <Card>
              <Facts
                facts={[
                  {
                    title: t.sendid,
                    value: (
                      <span className="row">
                        <span className="mono wrap">{message.sendid}</span> <CopyButton text={message.sendid} />
                      </span>
                    ),
                  },
                  { title: t.service, value: <span className="mono wrap">{message.app_key}</span> },
                  { title: t.kind, value: t.kinds[message.kind] },
                  { title: t.accepted, value: <Time at={message.created_at} /> },
                  { title: t.pricePerPart, value: money(message.price) },
                ]}
              />
            </Card>
            {message.parts.map(({ part, status, events }) => (
              <Card
                key={part}
                title={message.parts.length === 1 ? t.wholeMessage : t.part(part, message.parts.length)}
                actions={<MessageState state={status} />}
              >
                <TimeLine events={events} />
              </Card>
            ))}
          </>
        )}
      </Loaded>
    </Page>
  );
}
