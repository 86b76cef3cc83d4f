import { isKind } from '../domain/kinds.ts';
import type { NotificationKind } from '../domain/notification.ts';
import type { NotificationsPorts } from '../ports.ts';

type Ports = Pick<NotificationsPorts, 'sealer' | 'mailChoices'>;

const purpose = 'unsubscribe from mail';

interface Subscription {
  readonly personId: string;
  readonly kinds: readonly NotificationKind[];
}

/** Nobody can change it or make another one; it works for as long as the secret key. */
export const unsubscribeToken = (
  { sealer }: Pick<Ports, 'sealer'>,
  personId: string,
  kinds: readonly NotificationKind[],
): string => sealer.seal([personId, ...new Set(kinds)].join(' '), purpose);

/** @returns undefined for a token that is not ours */
export const whatToUnsubscribe =
  ({ sealer }: Pick<Ports, 'sealer'>) =>
  (token: string): Subscription | undefined => {
    try {
      const [personId = '', ...kinds] = sealer.open(token, purpose).split(' ');
      return { personId, kinds: kinds.filter(isKind) };
    } catch {
      return undefined;
    }
  };

/** Once and for all mails of these kinds; again changes nothing. @returns whether the token is ours */
export const unsubscribe =
  (ports: Ports) =>
  async (token: string): Promise<boolean> => {
    const wanted = whatToUnsubscribe(ports)(token);
    if (wanted) await ports.mailChoices.switchOff(wanted.personId, wanted.kinds);
    return wanted !== undefined;
  };
