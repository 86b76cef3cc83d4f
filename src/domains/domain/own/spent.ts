import type { Validity } from '../certificates/certificate.ts';
import { latest } from '../certificates/standing.ts';
import { unknownOwnName, type OwnName } from './own-name.ts';

const day = 24 * 60 * 60_000;

/** Longer than the ledger keeps the orders of a name: their subjects begin anew once the name is forgotten. */
const restMs = 9 * day;

/**
 * Whether nothing that is stored of a name of our own is of use, if it needs no certificate now: its last one has ended, and
 * the authority was not asked for another one lately.
 */
export const isSpent = ({ certificate }: OwnName, now: Date): boolean => {
  const ended = certificate.kind === 'issued' ? certificate.notAfter : undefined;
  return latest(certificate.work.attempts?.lastAt, ended).getTime() + restMs < now.getTime();
};

/** Version 1.0.0 stores certificates only, also while both serve. */
export const ownNameOf = (
  host: string,
  stored: OwnName | undefined,
  validity: Validity | undefined,
): OwnName => {
  const unknown = unknownOwnName(host, validity);
  if (!stored) return unknown;
  const { certificate } = stored;
  const isNewer =
    validity && (certificate.kind !== 'issued' || certificate.notAfter < validity.notAfter);
  return isNewer ? { ...unknown, generation: stored.generation } : stored;
};
