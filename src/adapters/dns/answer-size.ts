import { largestAnswer, type DnsAnswer } from '../../domains/domain/dns/facts.ts';

/** Absurdly large answers are not judged, but reported as `too_large`. @param textOf all that a record holds */
export const withinLimits = <Item>(
  answer: DnsAnswer<Item>,
  textOf: (record: Item) => string,
): DnsAnswer<Item> => {
  if (answer.kind !== 'records') return answer;
  const { records } = answer;
  const characters = records.reduce((sum, record) => sum + textOf(record).length, 0);
  const isTooLarge =
    records.length > largestAnswer.records || characters > largestAnswer.characters;
  return isTooLarge ? { kind: 'failed', reason: 'too_large' } : answer;
};
