/** Values of settings as the service shows them, as controls have them, and as people read them. Pure. */
import type { SettingWords } from '#contract/changes/setting-words.ts';
import type { Field, Fields } from '#contract/schema/fields.ts';
import type { Locale } from '#contract/schema/locale.ts';
import { formatSeconds } from '../lib/format.ts';

/** Entries of a list, which may be an array, or a text with commas or line breaks. */
export function entriesOf(value: unknown, { kind }: Pick<Field, 'kind'>): readonly string[] {
  if (Array.isArray(value)) return value.map(String);
  const entries = String(value ?? '').split(kind === 'lines' ? '\n' : ',');
  return entries.map((entry) => entry.trim()).filter((entry) => entry !== '');
}

/** Whether two values are the same to the service: `1` and `"1"`, a list and its text. */
export function isSameValue(field: Field, one: unknown, other: unknown): boolean {
  return JSON.stringify(normalized(field, one)) === JSON.stringify(normalized(field, other));
}

function normalized(field: Field, value: unknown): unknown {
  switch (field.kind) {
    case 'lines':
    case 'list':
    case 'choices':
      return entriesOf(value, field);
    case 'objects':
      return objectsOf(value).map((object) =>
        Object.fromEntries(
          Object.entries(field.members ?? {})
            .map(([name, member]) => [name, normalized(member, object[name])] as const)
            .filter(([, member]) => member !== ''),
        ),
      );
    default:
      return String(value ?? '');
  }
}

export function objectsOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.map((object) => Object(object)) : [];
}

/** A new object of a list: the first value of each choice, switches off, all else empty. */
export function emptyObject(members: Fields): Readonly<Record<string, unknown>> {
  const values = Object.entries(members).map(([name, { kind, values }]) => {
    if (kind === 'switch') return [name, '1'];
    return [name, kind === 'choice' ? (values?.[0] ?? '') : ''];
  });
  return Object.fromEntries(values);
}

interface Words {
  readonly on: string;
  readonly off: string;
  readonly nothing: string;
  readonly seconds: string;
  /** Puts a text in parentheses. */
  readonly aside: (text: string) => string;
}

/** A value in words, on several lines where it is a list. */
export function describeValue(field: Field, text: SettingWords, value: unknown, locale: Locale, words: Words): string {
  switch (field.kind) {
    case 'switch':
      return String(value ?? '0') === '1' ? words.on : words.off;
    case 'choice':
      return text.values?.[String(value ?? '')]?.[locale] ?? String(value);
    case 'lines':
    case 'list':
    case 'choices':
      return entriesOf(value, field).join('\n') || words.nothing;
    case 'seconds':
      return describeSeconds(value, locale, words);
    case 'objects':
      return (
        objectsOf(value)
          .map((object) => describeObject(field, text, object, locale, words))
          .join('\n') || words.nothing
      );
    default:
      return String(value ?? '') || words.nothing;
  }
}

/** The same duration in its largest unit stands before the number, if there is one. */
function describeSeconds(value: unknown, locale: Locale, words: Words): string {
  const seconds = Number(value ?? 0);
  const plain = `${String(value ?? 0)} ${words.seconds}`;
  return seconds >= 60 && seconds % 60 === 0 ? `${formatSeconds(seconds, locale)}${words.aside(plain)}` : plain;
}

/** Members that say something, each after its title. */
function describeObject(
  field: Field,
  text: SettingWords,
  object: Readonly<Record<string, unknown>>,
  locale: Locale,
  words: Words,
): string {
  return Object.entries(field.members ?? {})
    .filter(([name]) => object[name] !== undefined && object[name] !== '' && object[name] !== 0)
    .map(([name, member]) => {
      const memberText = text.members?.[name];
      if (memberText === undefined) return String(object[name]);
      return `${memberText.title[locale]}: ${describeValue(member, memberText, object[name], locale, words)}`;
    })
    .join(' · ');
}
