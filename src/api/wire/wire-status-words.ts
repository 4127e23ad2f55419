/** The words of a connector's table on the wire: `word=state`, and behind it `|group|text in Chinese|text in English`. */
import { WORD_GROUPS } from '#contract/sms/sms-connector-fields.ts';
import { type StatusWord, WORD_STATES, type WordState } from '#model/sms-status-words.ts';

/** Reads an entry that the contract has checked. */
export function readStatusWord(entry: string): StatusWord {
  const end = entry.indexOf('=');
  const [written, group, zh = '', en = ''] = entry.slice(end + 1).split('|');
  const text = { ...(zh !== '' && { 'zh-CN': zh }), ...(en !== '' && { en }) };
  const known = WORD_GROUPS.find((name) => name === group);
  return {
    word: entry.slice(0, end),
    state: WORD_STATES.find((state) => writeWordState(state) === written) ?? 'unknown',
    ...(known !== undefined && { group: known }),
    ...(zh + en !== '' && { text }),
  };
}

export function writeStatusWord({ word, state, group, text = {} }: StatusWord): string {
  const more = [group ?? '', text['zh-CN'] ?? '', text.en ?? ''];
  while (more.at(-1) === '') more.pop();
  return [`${word}=${writeWordState(state)}`, ...more].join('|');
}

function writeWordState(state: WordState): string {
  return state === 'onTheWay' ? 'on_the_way' : state;
}
