import { retention } from '../../src/app/retention.ts';
import { toldAfterMs, toldAgainAfterMs } from '../../src/domains/domain/attachment/due-work.ts';
import { inWords, kinds } from '../../src/notifications/domain/kinds.ts';
import { mostMessages } from '../../src/notifications/domain/mail.ts';
import { removalSteps } from '../../src/access/domain/account.ts';
import { everyKind } from '../../test/support/notifications.ts';
import { code, page, printed, table } from './markdown.ts';

const hour = 60 * 60_000;
const day = 24 * hour;

export const notificationsPage = (): string => {
  const rows = everyKind()
    .filter(({ kind }) => kinds[kind].to === 'owners')
    .map((told) => [code(told.kind), kinds[told.kind].when, inWords(told).title]);
  const personal = Object.values(kinds).flatMap(({ to, when }) => (to === 'person' ? [when] : []));
  return page(
    '# Notifications',
    printed('src/notifications/domain/kinds.ts'),
    'When something happens that may need you, Animal Store tells you, so that you do not have to look. Certificate authorities no ' +
      'longer write before a certificate ends: if a renewal fails, you learn of it here.',
    '## Notices',
    'The bell at the top of each page says how many notices you have not read. It leads to the page Notices, where each one says ' +
      'what happened, what you can do, and links to the page where you do it.',
    [
      '- Each person has their own unread notices. Looking at the page marks them as read, for you only. A browser that loads the page ahead does not.',
      '- The bell counts on every page that you have in view, and the page Notices shows new ones by itself. Without JavaScript, the bell is up to date on each page that you load.',
      `- Notices are kept for ${retention.notices.keptMs / day} days.`,
      '- Everyone who can sign in to the account gets the notices of the account. Another account never does.',
    ].join('\n'),
    '## Mail',
    'Where the operator has set up a mail server, you get the same by mail, at your own address, once you have signed in by a ' +
      'link that was mailed to you, or that the operator made. The address that the account was created with gets it from the beginning.',
    [
      '- Under **Mail** on the [Account](dashboard.md#pages) page, you choose which of them you get. The others of your account choose for themselves.',
      `- You get at most one mail of a kind about one thing a day. When more than ${mostMessages} mails come within ten minutes, the others wait for the end of the ten minutes and come as one summary. \`domain.contested\` is always sent at once. The notices show everything at once.`,
      '- Each mail has a link to get no more of its kind, and mail programs can do that with one click.',
      `- Mails about your own access always come: ${personal.join(' ')} Links come by mail only, and work once.`,
      '- A mail loads nothing from anywhere, and does not track you. All that it says is in its text part too.',
      '- If the mail server refuses your address for good, the Account page says so beside you, with the reason.',
    ].join('\n'),
    '## What you are told',
    table(['Kind', 'When', 'What it says, for example'], rows),
    '## What shows only over time',
    [
      `- **A domain leads elsewhere.** DNS fails briefly, so one check is not enough: you are told when another check shows the same at least ${toldAfterMs / hour} hour later. A live domain is checked every hour, and again within minutes when it leads elsewhere. You are also told when it is right again. Each time is told once.`,
      `- **A certificate does not come.** You are told after three failed attempts, or when a fifth of the lifetime of the current one is left (at most 7 days), and again every ${toldAgainAfterMs / day} days. The notice names the problem and who must act. Once there is a new certificate, you are told that too.`,
      '- **A removed domain** is told once, as removed. Nothing that was wrong with it before is told any more.',
      '- **Quotas** are told once a day each, days being those of UTC. If all requests are used within seconds, you are told that only.',
      `- **Operations that will be removed** are told ${removalSteps.toReversed().join(', ')} days before, to accounts that have called them within 30 days. If you begin to call one later, you are told then.`,
    ].join('\n'),
    '## Nothing is lost',
    'A notice comes from an [event](events.md), which is stored together with what it tells of. If a process dies in between, ' +
      'another one adds the notice, once. [How an event is delivered](architecture.md#how-an-event-is-delivered).',
  );
};
