import { subscriptions } from '../../../src/app/subscriptions.ts';
import { receiverOf } from '../shops.ts';
import { workerNames } from '../fleet.ts';
import { inText, toleratedSkewMs, type Facts, type Law, type Seen } from './law.ts';
import { dayMs, hourMs } from '../world/durations.ts';

interface Event {
  readonly id: string;
  readonly row: number;
  readonly account: string;
  readonly type: string;
  readonly project: string | null;
  readonly at: number;
  readonly seenAt: number;
}

/** Types of events that owners are notified of, except events of what they did themselves. */
const toOwners = Object.entries(subscriptions)
  .filter(([, { subscribers }]) => subscribers.some((name) => name === 'notices'))
  .map(([type]) => `'${type}'`)
  .join();

const newEvents = `
  select id, rowid as row, account_id as account, type, occurred_at as at,
    details ->> '$.projectId' as project from events
  where rowid > ? and type in (${toOwners})
    and not (type = 'deploy_failed' and actor like 'person:%')
    and not (type = 'webhook_switched_off' and details ->> '$.reason' = 'by_hand')`;

/**
 * A failed delivery waits for at most an hour between attempts. It needs only the database, so the weather does not
 * matter.
 */
const toldWithinMs = 2 * hourMs;

/**
 * Keeps each event in memory until its notice exists, because the sweep deletes events that the audit log does not
 * show.
 */
export const ownersAreTold = (): Law => {
  let waiting: Event[] = [];
  let last = 0;
  return {
    name: 'Each event that concerns owners is announced to its account in each chosen way',
    tables: ['events'],
    afterCommit: ({ stored, time }) => {
      for (const event of stored.rows<Omit<Event, 'seenAt'>>(newEvents, last)) {
        last = Math.max(last, event.row);
        waiting.push({ ...event, seenAt: time.now });
      }
      return undefined;
    },
    eachHour: (seen) => {
      const { past, time } = seen;
      const isUp = workerNames.some((name) => {
        const since = past.upSince(name);
        return since !== undefined && since < time.now - toldWithinMs;
      });
      if (!isUp) return undefined;
      const due = waiting.filter(({ seenAt }) => seenAt < time.now - toldWithinMs);
      waiting = waiting.filter(({ seenAt }) => seenAt >= time.now - toldWithinMs);
      return firstOf(due, (event) => untold(event, seen));
    },
    atTheEnd: (seen) => firstOf(waiting, (event) => untold(event, seen)),
  };
};

/** Owners need no notice about something deleted before the notice was due, except of the deletion. */
const isOfDeleted = (event: Event, { stored, past }: Seen): boolean => {
  const { account, project, type, seenAt } = event;
  if (!stored.has('select 1 from accounts where id = ? and deleted_at is null', account))
    return true;
  if (project === null || type === 'project_deleted') return false;
  const since = past.inServiceSince(project);
  const isGone = !stored.has('select 1 from projects where id = ?', project);
  return isGone || since === undefined || since > seenAt;
};

const untold = (told: Event, seen: Seen): Facts | undefined => {
  const { id, account, type, at } = told;
  if (isOfDeleted(told, seen)) return undefined;
  const { stored } = seen;
  const event = { event: id, type, 'happened at': inText(at) };
  const notice = stored.first<{ account_id: string }>(
    'select account_id from notices where event_id = ?',
    id,
  );
  if (!notice) return { ...event, notice: 'none' };
  if (notice.account_id !== account) return { ...event, 'told to': notice.account_id };
  // The account's webhook existed at that time, still exists, and was never switched off.
  const unsent = stored.first<{ id: string }>(
    `select id from webhooks where account_id = ? and created_at < ? and state = 'on' and off_since is null
      and not exists (select 1 from events where type like 'webhook_switched_%' and account_id = webhooks.account_id)
      and not exists (select 1 from webhook_deliveries d where d.webhook_id = webhooks.id and d.message_id = ?)`,
    ...[account, at, id],
  );
  return unsent && { ...event, 'not sent to webhook': unsent.id };
};

/** Each received message names the account that owns the receiver. */
export const messagesArriveRight = (): Law => {
  let asked = 0;
  let known = 0;
  return {
    name: 'No message of a webhook goes to another account, or unsigned',
    afterStep: ({ world, owners, fleet }) => {
      const { faults, received } = world.receivers;
      for (; known < faults.length; known += 1) {
        const fault = faults[known];
        // Receivers refuse messages that were signed by a wrong clock.
        const isLate = fault?.why.includes('timestamp') === true && hasWrongClock(fleet);
        if (fault && !isLate) return { address: fault.address, why: fault.why };
      }
      for (; asked < received.length; asked += 1) {
        const message = received[asked];
        const shop = [...owners.shops.values()].find(
          ({ name }) => receiverOf(name) === message?.address,
        );
        if (message && shop && message.accountId !== shop.accountId)
          return { address: message.address, message: message.id, 'of account': message.accountId };
      }
      return undefined;
    },
  };
};

const hasWrongClock = (fleet: Seen['fleet']): boolean =>
  [...fleet.values()].some(({ actor }) => Math.abs(actor.clockAheadMs) >= toleratedSkewMs);

/** Each mail goes to a person of the account that owns the named domain or project. */
export const mailsArriveRight = (): Law => {
  let asked = 0;
  return {
    name: 'No mail goes to a person of another account',
    afterStep: ({ world, stored }) => {
      const { taken } = world.mail;
      for (; asked < taken.length; asked += 1) {
        const mail = taken[asked];
        if (!mail) continue;
        if (!stored.has('select 1 from people where email = ?', mail.to))
          return { to: mail.to, why: 'nobody has this address' };
        const strange = mail.told.find((told) => isOfAnother(told.about, mail.to, stored));
        if (strange) return { to: mail.to, kind: strange.kind };
      }
      return undefined;
    },
  };
};

/** One address may belong to people of several accounts. */
const isOfAnother = (about: object, address: string, stored: Seen['stored']): boolean => {
  if (!('project' in about)) return false;
  // A mail may arrive after its project has ended.
  const others = `select 1 from projects where slug = ?
    and account_id not in (select account_id from people where email = ?)`;
  return stored.has(others, String(about.project), address);
};

/** Retention deletes deliveries after 30 days. */
export const messagesAreTaken: Law = {
  name: 'Each webhook delivery that is marked as delivered reached its receiver',
  atTheEnd: ({ stored, world, time }) => {
    const taken = new Set(world.receivers.received.map(({ id, address }) => `${id} ${address}`));
    const said = stored.rows<{ message: string; address: string }>(
      `select d.message_id as message, w.address from webhook_deliveries d join webhooks w on w.id = d.webhook_id
        where d.state = 'delivered' and d.begun_at > ?`,
      Math.floor(time.now) - 30 * dayMs,
    );
    const lost = said.find(({ message, address }) => !taken.has(`${message} ${address}`));
    return lost && { message: lost.message, address: lost.address };
  },
};

const firstOf = <T>(all: readonly T[], ask: (one: T) => Facts | undefined): Facts | undefined => {
  for (const one of all) {
    const facts = ask(one);
    if (facts) return facts;
  }
  return undefined;
};
