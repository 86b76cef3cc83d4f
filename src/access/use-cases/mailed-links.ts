import { addressInvalid, TooMany } from '../domain/access-error.ts';
import type { AccessEvent } from '../domain/access-event.ts';
import {
  askedByAccount,
  isDue,
  isNews,
  type MailReason,
  type MailRequest,
  mayBeAnsweredAt,
  mayBeMailed,
  type WantedLink,
} from '../domain/mail-request.ts';
import { emailOf, isEmail, type Person } from '../domain/person.ts';
import { invitationMs, mailedLinkMs, networksAround, signInLimits } from '../domain/session.ts';
import type { MailedLink, Membership } from '../people-ports.ts';
import type { AccessPorts } from '../ports.ts';
import { type KnownDevice, openDevice, waitBeforeAttempt, waitFrom } from './sign-in-attempts.ts';
import { newLink } from './people.ts';
import type { SignInOrigin } from './sign-in.ts';
import type { StoredEvent } from '../../kernel/decision.ts';
import { earliest } from '../../kernel/ports.ts';
import { inWords } from '../../kernel/text.ts';

type Ports = Pick<AccessPorts, 'mailRequests' | 'counters' | 'sealer' | 'ids' | 'clock'>;

/**
 * Requests a link by mail for a visitor. Only stores the request and looks up no person, so neither the answer nor its
 * timing reveals whether the address exists; `answerMailRequests` does the rest. A flood from elsewhere does not block
 * a visitor: each network has its own limits, and when many requests wait, networks and known browsers take turns.
 * @throws DomainError `person_invalid` for a malformed address, whether or not somebody has it; TooMany
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
      id,
      reason: wants,
      email: address,
      personId: undefined,
      askedAt,
      ...asked,
    });
  };

const what = 'link-requests-from';

/** @returns today's number of requests from the surrounding network that takes turns @throws TooMany */
const admitStranger = async (
  ports: Ports,
  { network }: Pick<SignInOrigin, 'network'>,
): Promise<number> => {
  refuseFor(await waitFrom(ports, { what, network }, signInLimits.network));
  const taking = networksAround(network).find(({ takesTurns }) => takesTurns);
  return countOf(ports, `${what}:${taking?.name ?? network}`);
};

/** @returns how many requests the browser made today @throws TooMany */
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
  const message = `Too many links were requested. Try again in ${inWords(wait * 1000)}.`;
  throw new TooMany('too_many_sign_ins', message, wait);
};

const news = {
  password_changed: 'password_changed',
  second_factor_added: 'factor_changed',
  second_factor_removed: 'factor_changed',
  second_factor_reset: 'factor_changed',
  recovery_code_used: 'factor_changed',
} as const satisfies Partial<Record<AccessEvent['type'], MailReason>>;

type MailingEvent = Extract<AccessEvent, { type: 'link_mail_wanted' | keyof typeof news }>;

/** Requests the mail for an event. Repeating the event requests no further mail. */
export const wantMail =
  ({ people, mailRequests }: Pick<AccessPorts, 'people' | 'mailRequests'>) =>
  async ({ id, event }: StoredEvent<MailingEvent>): Promise<void> => {
    const person = await people.find(event.personId);
    if (!person) return;
    // Without proof of the address, a stranger who typed it could cause mail to it in this way.
    if (event.type !== 'link_mail_wanted' && !person.provenAt) return;
    const [reason, askedAt] = [reasonOf(event, person), event.occurredAt];
    const { email, id: personId } = person;
    await mailRequests.add({
      id,
      reason,
      email,
      personId,
      askedAt,
      turn: 0,
      ...askedByAccount(person.accountId),
    });
  };

const reasonOf = (event: MailingEvent, { joinedAt }: Person): MailReason => {
  if (event.type !== 'link_mail_wanted') return news[event.type];
  const hadJoined = joinedAt !== undefined && joinedAt < event.occurredAt;
  return event.whose === 'anybody' && hadJoined ? 'sign_in' : 'invitation';
};

const batch = 100;

/** Limit for one run. The next run starts with those whose turn it is then, so that a flood slows down only itself. */
export const mostAnswered = 500;

/** Answers waiting mail requests by turns. A failure does not delay the others. @throws the first error */
export const answerMailRequests =
  (ports: AccessPorts) =>
  async (isStopping: () => boolean): Promise<void> => {
    const failures: unknown[] = [];
    let last: MailRequest | undefined;
    for (let seen = 0; seen < mostAnswered && !isStopping(); seen += batch) {
      const waiting = await ports.mailRequests.waiting(batch, last);
      for (const request of waiting) {
        if (isStopping()) break;
        if (!isDue(request, ports.clock.now())) continue;
        await answer(ports, request.id).catch((error: unknown) => failures.push(error));
      }
      last = waiting.at(-1);
      if (waiting.length < batch) break;
    }
    if (failures.length > 0) throw failures[0];
  };

export const mailRequestsDueAt =
  ({ mailRequests, clock }: Pick<AccessPorts, 'mailRequests' | 'clock'>) =>
  async (): Promise<Date | undefined> => {
    const now = clock.now();
    const waiting = await mailRequests.waiting(batch);
    return earliest(waiting.map((one) => mayBeAnsweredAt(one, now)));
  };

const answer = (ports: AccessPorts, id: string): Promise<void> => {
  const now = ports.clock.now();
  return ports.mailRequests.answer(id, now, async (request, before) => {
    const all = await recipients(ports, request);
    const [first, ...others] = all;
    if (!first) return false;
    const personIds = all
      .map(({ person }) => person)
      .filter(hasProven)
      .map(({ id }) => id);
    if (!mayBeMailed(request, { before, personIds }, now)) return false;
    const links: MailedLink[] = [];
    if (!isNews(request.reason)) {
      for (const one of [first, ...others]) links.push(await mailedLink(ports, one, request, now));
    }
    const { reason, askedAt: occurredAt } = request;
    await ports.personalMails.add({ id, reason, to: first, occurredAt, links });
    return true;
  });
};

/** People who proved the address come first, then the oldest. A person who has joined meanwhile needs no invitation. */
const recipients = async (
  { people, accounts }: AccessPorts,
  { reason, email, personId }: MailRequest,
): Promise<readonly Membership[]> => {
  const all = await (personId === undefined ? people.listByEmail(email) : one(people, personId));
  const asked = all.filter(({ joinedAt }) => reason !== 'invitation' || !joinedAt);
  const memberships: Membership[] = [];
  for (const person of asked) {
    const account = await accounts.find(person.accountId);
    if (account) memberships.push({ person, account });
  }
  return memberships;
};

const one = async (people: AccessPorts['people'], id: string): Promise<readonly Person[]> => {
  const person = await people.find(id);
  return person ? [person] : [];
};

const hasProven = ({ provenAt }: Person): boolean => provenAt !== undefined;

/** Makes a separate link, because the secret of the first one is not stored and cannot be mailed. */
const mailedLink = async (
  ports: AccessPorts,
  { person, account }: Membership,
  { reason }: MailRequest,
  now: Date,
): Promise<MailedLink> => {
  const isInvitation = reason === 'invitation';
  const endsAt = new Date(now.getTime() + (isInvitation ? invitationMs : mailedLinkMs));
  const { secret, link } = newLink(ports, { person, endsAt, resetsPassword: true });
  const { id: personId, accountId, email } = person;
  const about = { accountId, occurredAt: now, personId, email };
  const whose = isInvitation ? 'newcomer' : 'anybody';
  await ports.signInLinks.add(link, [{ type: 'sign_in_link_mailed', ...about }], whose);
  return { person, account, secret, endsAt };
};
