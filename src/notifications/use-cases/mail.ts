import { planMail, type Mail } from '../domain/mail.ts';
import type { KindFacts, Notification, PersonalKind } from '../domain/notification.ts';
import type { NotificationsPorts } from '../ports.ts';

type Ports = Pick<NotificationsPorts, 'mails' | 'mailChoices' | 'recipients' | 'postman' | 'clock'>;

/** A mail of a personal kind, with its facts, which are kept encrypted until it is sent. */
export type PersonalMail = {
  [Kind in PersonalKind]: { readonly kind: Kind; readonly about: KindFacts[Kind] };
}[PersonalKind] & {
  /** At most 120 characters. Adding another mail with the same id changes nothing. */
  readonly id: string;
  readonly accountId: string;
  readonly personId: string;
  /** The address. */
  readonly to: string;
};

/** Sends one person a mail of a personal kind. @returns false where no mail is sent, because `SMTP_URL` is not set */
export const mailPerson =
  ({ mails, postman, clock }: Ports) =>
  async (mail: PersonalMail): Promise<boolean> => {
    if (!postman) return false;
    await add({ mails, clock }, { ...mail, occurredAt: clock.now() });
    return true;
  };

/** One mail to each person of the account who wants that kind, except the one who did it. Adding the same notification again changes nothing. */
export const mailOwners =
  ({ mails, mailChoices, recipients, postman, clock }: Ports) =>
  async (notification: Notification): Promise<void> => {
    if (!postman) return;
    const people = await recipients.of(notification.accountId);
    const off = await mailChoices.off(people.map(({ personId }) => personId));
    for (const { personId, to } of people) {
      if (to === notification.by) continue;
      if (off.get(personId)?.has(notification.kind)) continue;
      const id = `${notification.id}:${personId}`;
      await add({ mails, clock }, { ...notification, id, personId, to });
    }
  };

/** Plans it by the time at which its turn has come: mails that were planned while it waited do not count as later ones. */
const add = ({ mails, clock }: Pick<Ports, 'mails' | 'clock'>, mail: Mail): Promise<void> =>
  mails.add(mail, clock.now(), (before) => planMail(mail, before, clock.now()));
