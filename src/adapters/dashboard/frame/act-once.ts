import { hash } from 'node:crypto';
import type { DashboardPorts } from './ports.ts';
import { PageProblem } from './page-problem.ts';
import { onceField } from './form-parts.ts';
import { pathOf, type Form, type Outcome, type Screen, type Visit } from './screen.ts';

interface SentForm {
  readonly screen: Pick<Screen, 'path'>;
  readonly form: Form;
  readonly visit: Visit;
  readonly values: Readonly<Record<string, string>>;
  readonly ports: Pick<DashboardPorts, 'idempotencyKeys'>;
}

/** The code in `?done=` when the first answer showed a secret, which is not stored. */
export const shownOnce = 'shown-once';

/**
 * A form that is sent twice, by a second click or a reload, acts once and leads to the same place. If that was a page
 * with a secret, it leads to the screen, which explains it.
 * @throws PageProblem
 */
export const actOnce = async (
  { screen, form, visit, values, ports }: SentForm,
  act: () => Promise<Outcome>,
): Promise<Outcome> => {
  const { [onceField]: key = '' } = values;
  if (!/^[\w-]{10,40}$/.test(key)) throw new PageProblem(400, 'Load the page again, then send it.');
  const fingerprint = hash('sha256', JSON.stringify([form.path, visit.parameters, values]), 'hex');
  const request = { accountId: visit.accountId, key, fingerprint, now: visit.now };
  const work = async () => {
    const led = await act();
    const kept = 'to' in led ? led : { to: pathOf(screen, visit), done: shownOnce };
    return { status: 303, headers: {}, body: JSON.stringify(kept), led };
  };
  const { once } = form;
  const admit = typeof once === 'object' ? () => once.admit(visit) : undefined;
  const outcome = await ports.idempotencyKeys.once(request, work, admit);
  switch (outcome.kind) {
    case 'answered':
      return outcome.answer.led;
    case 'replayed':
      return JSON.parse(outcome.answer.body) as Outcome;
    case 'in_progress':
      throw new PageProblem(409, 'This form is already being processed. Reload in a moment.');
    case 'unknown':
      throw new PageProblem(
        409,
        'The form was cut off, but may have taken effect. Check before you send it again.',
      );
    case 'reused':
      throw new PageProblem(409, 'This form was already sent with other values. Reload the page.');
  }
};
