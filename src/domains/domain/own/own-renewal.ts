import {
  askedForAt,
  mayAskFor,
  withWindow,
  type PlannedCertificate,
  type RenewalAnswer,
} from '../certificates/renewal-plan.ts';
import type { IssuedCertificate } from '../certificates/standing.ts';
import type { OwnName } from './own-name.ts';
import type { OwnChange } from './own-order.ts';

/** See `mayAskFor`. */
export const mayAskForOwn = (
  name: OwnName,
  now: Date,
): name is OwnName & { readonly certificate: IssuedCertificate } =>
  name.certificate.kind === 'issued' && mayAskFor(name.certificate, now);

/** See `askedForAt`. */
export const ownAskedAt = ({ certificate }: OwnName): Date | undefined =>
  certificate.kind === 'issued' ? askedForAt(certificate) : undefined;

interface OwnRenewalPlan extends OwnChange {
  readonly verdict: PlannedCertificate['verdict'];
}

/** Plans the renewal, unless one is under way. */
export const planOwnRenewal = (name: OwnName, answer: RenewalAnswer, now: Date): OwnRenewalPlan => {
  const { certificate } = name;
  if (certificate.kind !== 'issued' || certificate.work.attempts)
    return { name, verdict: 'unchanged' };
  const planned = withWindow(certificate, answer, now);
  return { name: { ...name, certificate: planned.certificate }, verdict: planned.verdict };
};
