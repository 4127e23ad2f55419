/** A QR code: dark squares on white in both themes, since readers expect that. */
import { encode } from 'uqr';
import styles from './qr-code.module.css';

/** Free squares around the code. ISO/IEC 18004 §6.3.8 asks for four. */
const MARGIN = 4;

export function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const { data, size } = encode(text, { border: MARGIN });
  const squares = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
  return (
    <svg className={styles['code']} viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label}>
      <path d={squares.join('')} />
    </svg>
  );
}
