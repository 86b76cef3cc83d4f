import { workOn } from '../../../domains/domain/certificates/certificate-status.ts';
import type { DomainIn } from '../../../domains/domain/attachment/custom-domain.ts';
import { isDelegated, isReadyAt } from '../../../domains/domain/attachment/serving.ts';
import { problemTitles } from '../../../domains/domain/dns/problem.ts';
import { lowered, ourTurn, yourTurn, type Progress } from './turn.ts';

const move =
  'Create the first record below in place of the old ones. From then on visitors get your site here over HTTPS; we check for it automatically.';

/** What there is to say of a certificate that comes before the traffic; undefined: nothing. */
export const progressOfPreparing = (domain: DomainIn<'added'>, now: Date): Progress | undefined => {
  const work = workOn(domain);
  if (!work || !isDelegated(domain)) return undefined;
  if (isReadyAt(domain, now)) {
    const sentence = `Certificate ready: point your DNS here whenever you like. ${move}`;
    return { ...yourTurn('Certificate ready', sentence, 'good') };
  }
  if (!work.problem)
    return ourTurn(
      'Certificate is being issued',
      'The name is proven, and its certificate is being ordered. You can point your DNS here without a gap once it is ready.',
    );
  const title = problemTitles[work.problem.code];
  const next =
    work.step === 'waits_for_owner'
      ? 'We no longer retry. Fix that, then press Verify.'
      : 'We retry automatically.';
  const sentence = `The certificate is not ready yet: ${lowered(title)}. ${next}`;
  return { ...yourTurn(title, sentence), actor: work.problem.actor };
};
