/** The parts that a text is split into, as phones get them. */
import type { DataOf } from '#contract/operations.ts';
import { useText } from '../../text/catalogue.ts';
import { sendMessageText } from '../../text/send-message.ts';
import styles from './parts-preview.module.css';

export function PartsPreview({ parts }: Pick<DataOf<'sms.split'>, 'parts'>) {
  const t = useText(sendMessageText);
  return (
    <ol className={styles['parts']} aria-label={t.preview}>
      {parts.map(({ part, text, characters }) => (
        <li key={part}>
          <span className="wrap">{text}</span>
          <span className="help">{t.characters(characters)}</span>
        </li>
      ))}
    </ol>
  );
}
