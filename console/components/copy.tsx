/** Copies a text, and says so for a moment. */
import { useState } from 'react';
import { useText } from '../text/catalogue.ts';
import { commonText } from '../text/common.ts';
import { IconButton } from './button.tsx';
import styles from './copy.module.css';

const SAID_MS = 2000;

/** `what`: what is copied, where there are several such buttons. */
export function CopyButton({ text, what }: { readonly text: string; readonly what?: string }) {
  const t = useText(commonText);
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), SAID_MS);
  };
  const label = isCopied ? t.copied : t.copy;
  return (
    <IconButton
      icon={isCopied ? 'check' : 'copy'}
      label={what === undefined ? label : `${label}: ${what}`}
      onClick={() => void copy().catch(() => undefined)} // refused by the browser: the text can be selected
    />
  );
}

/** A text to be taken elsewhere, whole. */
export function CopyBox({ text, what }: { readonly text: string; readonly what?: string }) {
  return (
    <div className={styles['box']}>
      <code className="mono wrap">{text}</code>
      <CopyButton text={text} {...(what !== undefined && { what })} />
    </div>
  );
}
