/** Explains stored words of carriers by the tables of their connectors. */
import { explainWord, type StatusWord } from '#model/sms-status-words.ts';
import type { Executor } from '../../schema/schema.ts';
import { listConnectors } from './connectors.ts';

export type MeaningOf = (connectorId: number | undefined, word: string) => StatusWord | undefined;

/** Reads the connectors' tables as they are now. The meaning of a word is computed once per look-up function. */
export async function readMeanings(x: Executor): Promise<MeaningOf> {
  const tables = new Map<number, readonly StatusWord[]>();
  for (const { id, settings } of await listConnectors(x))
    if (settings.kind !== 'loopback' && settings.statusWords.length > 0) tables.set(id, settings.statusWords);
  const known = new Map<string, StatusWord | undefined>();
  return (connectorId, word) => {
    const own = connectorId === undefined ? undefined : tables.get(connectorId);
    if (own === undefined) return undefined;
    const asked = `${connectorId} ${word}`;
    if (!known.has(asked)) known.set(asked, explainWord(word, own));
    return known.get(asked);
  };
}
