/** Names as somebody types or pastes them, and as a zone file has them. Pure. */

export const MAX_NAMES = 100;

/** Names divided by lines, blanks or commas; equal ones once. A scheme and a path, as of a copied address, are dropped. */
export function namesOf(text: string): readonly string[] {
  const names = text
    .split(/[\s,;\uff0c\uff1b]+/) // with the commas and semicolons of Chinese
    .map((name) => name.replace(/^https?:\/\//i, '').replace(/[/?#].*$/, ''))
    .filter((name) => name !== '');
  return [...new Set(names)];
}

/** The record that points a domain here, as zone files have it. */
export function zoneLine(name: string, cname: string): string {
  return `${name}. 600 IN CNAME ${cname}.`;
}
