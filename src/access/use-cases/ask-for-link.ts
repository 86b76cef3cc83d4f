import { inWords } from '../../kernel/in-words.ts';
import { emailOf, isEmail } from '../domain/email.ts';
import type { WantedLink } from '../domain/mail-request.ts';
import { addressInvalid, TooMany } from '../domain/people-error.ts';
import type { Limits } from '../domain/plan.ts';
import { signInLimits } from '../domain/session.ts';
import type { AccessPorts } from '../ports.ts';
import type { SignInOrigin } from './sign-in.ts';
import { openDevice } from './known-device.ts';
import { waitBeforeAttempt } from './sign-in-attempts.ts';

type Ports = Pick<AccessPorts, 'mailRequests' | 'counters' | 'sealer' | 'ids' | 'clock'>;

/**
 * A visitor asks for a link by mail. Only stores that they asked, and looks nobody up, so neither the answer nor its time
 * tells whether the address is known; `answerMailRequests` does the rest. A browser in which somebody has signed in is not
 * counted with all visitors, so that a flood elsewhere does not concern it.
 * @throws DomainError `person_invalid` for what is no address, whoever has it; TooMany
 */
export const askForLink =
  (ports: Ports) =>
  async (
    { email, wants }: { readonly email: string; readonly wants: WantedLink },
    from: Pick<SignInOrigin, 'network' | 'device'>,
  ): Promise<void> => {
    const address = emailOf(email);
    if (!isEmail(address)) throw addressInvalid(address);
    const device = openDevice(ports, from.device);
    await admit(ports, `link-requests-from:${from.network}`, signInLimits.network);
    if (device) await admit(ports, `link-requests-in:${device.id}`, signInLimits.device);
    else await admit(ports, 'link-requests', signInLimits.linkRequests);
    const [id, askedAt] = [ports.ids.next('mreq'), ports.clock.now()];
    const asked = { source: `network:${from.network}`, device };
    await ports.mailRequests.add({
      ...{ id, reason: wants, email: address, personId: undefined, askedAt, ...asked },
    });
  };

const admit = async (ports: Ports, subject: string, limits: Limits): Promise<void> => {
  const wait = await waitBeforeAttempt(ports, subject, limits);
  if (wait === undefined) return;
  const message = `Too many links were asked for. Try again in ${inWords(wait * 1000)}.`;
  throw new TooMany('too_many_sign_ins', message, wait);
};
