import type { BytesCase, FuzzCase } from './fuzz-case.ts';
import { type FuzzField, openFuzzField } from './fuzz-field.ts';
import { judge, ServiceWitness, verifyMangled } from './judge.ts';
import type { Finding } from './run-fuzz.ts';
import { send } from './send.ts';

/** Finds the case that causes a finding on its own. @returns undefined if there is none */
export const reproduce = async (
  { what, cases }: Finding,
  domains: number,
): Promise<FuzzCase | undefined> => {
  let field = await openFuzzField(domains);
  const fails = async (one: FuzzCase): Promise<boolean> => {
    if (field.service.hasEnded()) {
      await field.close();
      field = await openFuzzField(domains);
    }
    return sortOf(await problemOf(one, field)) === sortOf(what);
  };
  try {
    for (const one of cases.toReversed()) {
      if (await fails(one)) return one;
    }
    return undefined;
  } finally {
    await field.close();
  }
};

const sortOf = (what: string | undefined): string | undefined => what?.split(':')[0];

const problemOf = async (one: FuzzCase, field: FuzzField): Promise<string | undefined> => {
  const witness = new ServiceWitness(field);
  const said =
    one.target === 'DNS answers' ? await verifyMangled(one, field) : await answered(one, field);
  return said ?? (await witness.lastComplaint());
};

const shortMs = 5_000;

const answered = async (one: BytesCase, field: FuzzField): Promise<string | undefined> =>
  judge(one, await send(one, field, shortMs), field);

/** Text for a bug report that JavaScript can read. */
export const showCase = (one: FuzzCase): string => {
  const text = JSON.stringify(one, undefined, 1).replace(
    /(.{1,40}?)\1{9,}/g,
    (all, part: string) => `${part}… ${String(all.length / part.length)} times …`,
  );
  return text.length > 4000 ? `${text.slice(0, 4000)}… (${String(text.length)} characters)` : text;
};
