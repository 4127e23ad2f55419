/** The text of the form of an address list: addresses and networks, and where one cannot be read. Pure. */

/** Limit of the contract. */
export const MAX_ADDRESSES = 5000;

export interface WrittenAddress {
  /** Number of the line, from 1. */
  readonly line: number;
  readonly text: string;
  readonly isAddress: boolean;
}

/** Repetitions are left out, and what stands after `#`. Commas may be those of Chinese texts. */
export function readAddresses(text: string): readonly WrittenAddress[] {
  const seen = new Set<string>();
  return text.split(/\r\n?|\n/).flatMap((raw, at) => {
    const [written = ''] = raw.split('#');
    return written.split(/[,\uff0c\u3001\s]+/).flatMap((entry): readonly WrittenAddress[] => {
      if (entry === '' || seen.has(entry)) return [];
      seen.add(entry);
      return [{ line: at + 1, text: entry, isAddress: isAddressOrNetwork(entry) }];
    });
  });
}

/** Whether they can be a list. */
export function areAddresses(written: readonly WrittenAddress[]): boolean {
  return written.length <= MAX_ADDRESSES && written.every(({ isAddress }) => isAddress);
}

/** What the service takes; it alone knows networks of mapped IPv4 addresses. */
export function isAddressOrNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const width = isIpv4(address) ? 32 : isIpv6(address) ? 128 : 0;
  if (width === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= width);
}

function isIpv4(text: string): boolean {
  const parts = text.split('.');
  return parts.length === 4 && parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255);
}

/** Whether the browser reads it in a URL. */
function isIpv6(text: string): boolean {
  return /^[\da-f:.]+$/i.test(text) && URL.canParse(`http://[${text}]/`);
}
