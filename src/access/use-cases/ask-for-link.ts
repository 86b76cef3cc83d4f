import { inWords } from '../../kernel/text.ts';
import { emailOf, isEmail } from '../domain/email.ts';
import type { WantedLink } from '../domain/mail-request.ts';
import { networksAround } from '../domain/networks.ts';
import { addressInvalid, TooMany } from '../domain/people-error.ts';
import { signInLimits } from '../domain/session.ts';
import type { AccessPorts } from '../ports.ts';
import type { SignInOrigin } from './sign-in.ts';
import { openDevice, type KnownDevice } from './known-device.ts';
import { waitBeforeAttempt, waitFrom } from './sign-in-attempts.ts';

type Ports = Pick<AccessPorts, 'mailRequests' | 'counters' | 'sealer' | 'ids' | 'clock'>;

/**
 * A visitor asks for a link by mail. Only stores that they asked, and looks nobody up, so neither the answer nor its time
 * tells whether the address is known; `answerMailRequests` does the rest. No flood elsewhere refuses anybody: each network
 * has its own limits, and where many requests wait, networks and known browsers take turns.
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
    const known = openDevice(ports, from.device);
    const turn = known ? await admitDevice(ports, known, from) : await admitStranger(ports, from);
    const [id, askedAt] = [ports.ids.next('mreq'), ports.clock.now()];
    const device = known && { id: known.id, personIds: known.provenIds };
    const asked = { source: `network:${from.network}`, device, turn };
    await ports.mailRequests.add({
      ...{ id, reason: wants, email: address, personId: undefined, askedAt, ...asked },
    });
  };

const what = 'link-requests-from';

/** @returns how many the widest network that takes turns has asked for today @throws TooMany */
const admitStranger = async (
  ports: Ports,
  { network }: Pick<SignInOrigin, 'network'>,
): Promise<number> => {
  refuseFor(await waitFrom(ports, { what, network }, signInLimits.network));
  const taking = networksAround(network).find(({ takesTurns }) => takesTurns);
  return countOf(ports, `${what}:${taking?.name ?? network}`);
};

/** @returns how many the browser has asked for today @throws TooMany */
const admitDevice = async (
  ports: Ports,
  { id }: KnownDevice,
  { network }: Pick<SignInOrigin, 'network'>,
): Promise<number> => {
  const subject = `link-requests-in:${id}`;
  refuseFor(await waitBeforeAttempt(ports, `${what}:${network}`, signInLimits.network));
  refuseFor(await waitBeforeAttempt(ports, subject, signInLimits.device));
  return countOf(ports, subject);
};

const countOf = async ({ counters, clock }: Ports, subject: string): Promise<number> =>
  (await counters.peek(subject, clock.now())).day;

const refuseFor = (wait: number | undefined): void => {
  if (wait === undefined) return;
  const message = `Too many links were asked for. Try again in ${inWords(wait * 1000)}.`;
  throw new TooMany('too_many_sign_ins', message, wait);
};
