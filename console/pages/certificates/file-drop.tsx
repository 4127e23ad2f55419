/** Files that are dropped or chosen, as one text. */
import { type DragEvent, useId, useState } from 'react';
import { useText } from '../../text/catalogue.ts';
import { certificatesText } from '../../text/certificates.ts';
import styles from './file-drop.module.css';

/** What is larger is no certificate. */
const MAX_BYTES = 256 * 1024;

export function FileDrop({ onText }: { readonly onText: (text: string) => void }) {
  const t = useText(certificatesText);
  const id = useId();
  const [isOver, setOver] = useState(false);
  const read = async (files: readonly File[]) => {
    const texts = await Promise.all(files.filter(({ size }) => size <= MAX_BYTES).map((file) => file.text()));
    onText(texts.join('\n'));
  };
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    void read([...event.dataTransfer.files]).catch(() => undefined); // a folder, or a file that is gone: nothing is taken
  };
  return (
    // Dropping is one more way; the field within is for keyboards and screen readers.
    // biome-ignore lint/a11y/noStaticElementInteractions: see above
    <div
      className={styles['drop']}
      data-over={isOver || undefined}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={onDrop}
    >
      <p className="help">{t.drop}</p>
      <input
        id={id}
        className="unseen"
        type="file"
        multiple
        accept=".pem,.crt,.cer,.key,.txt"
        onChange={({ target }) => void read([...(target.files ?? [])]).catch(() => undefined)} // as above
      />
      <label htmlFor={id} className={styles['choose']}>
        {t.choose}
      </label>
    </div>
  );
}
