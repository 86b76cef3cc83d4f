import { mailLimits, quietMs } from '../../src/access/domain/mail-request.ts';
import { passwordLength } from '../../src/access/domain/password.ts';
import { mostPeople } from '../../src/access/domain/person.ts';
import type { Limits } from '../../src/access/domain/quota.ts';
import {
  dashboardLimits,
  invitationMs,
  mailedLinkMs,
  mostSessions,
  sessionMs,
  sharedPageLimits,
  shortLinkMs,
  signInLimits,
} from '../../src/access/domain/session.ts';
import { mostShares, shareDays } from '../../src/domains/domain/attachment/share.ts';
import { mostStreams } from '../../src/adapters/dashboard/frame/live-streams.ts';
import { largestUpload, uploadPace } from '../../src/adapters/uploads/receive-file.ts';
import { uploadSlots } from '../../src/adapters/uploads/slots.ts';
import { span } from './domain-examples.ts';

/** What is counted of those who sign in. */
export const signInAttempts = (): readonly (readonly string[])[] => [
  [
    'passwords tried for one email address from one network address',
    ...numbers(signInLimits.addressFromNetwork),
  ],
  ['passwords and sign-in links tried from one network address', ...numbers(signInLimits.network)],
  [
    'passwords tried in a browser in which that person has signed in',
    ...numbers(signInLimits.device),
  ],
  ['current passwords tried to choose a new one', ...numbers(signInLimits.current)],
  ['links by mail asked for from one network address', ...numbers(signInLimits.network)],
  ['pages of shared links asked for from one network address', ...numbers(sharedPageLimits)],
  ['links that one person makes for themselves', ...numbers(signInLimits.ownLinks)],
  ['people whom one account invites, each new link counted', ...numbers(signInLimits.invitations)],
];

/** What a signed-in person may ask for. */
export const dashboardUse = (): readonly (readonly string[])[] => {
  const { pages, forms, streams } = dashboardLimits;
  return [
    ['pages of one person', String(pages)],
    ['forms that one person sends', String(forms)],
    ['live pages that one person opens', String(streams)],
  ];
};

export const dashboardNumbers = (): readonly (readonly string[])[] => [
  [
    'a password',
    `${String(passwordLength.min)} to ${String(passwordLength.max)} characters, none of the commonest`,
  ],
  ['a session ends after', span(sessionMs)],
  ['the link of the first start and of `account create` works once, for', span(shortLinkMs)],
  ['a link from the page Account or from `user invite` works once, for', span(invitationMs)],
  ['a link that somebody asked for on the sign-in page works once, for', span(mailedLinkMs)],
  [
    'links by mail to one address that one network asks for; the same for invitations, and for news of a changed password, of one account',
    mails(mailLimits.ofSource),
  ],
  [
    'links by mail to one address that a browser asks for in which its person has signed in, with a link that was mailed',
    mails(mailLimits.ofSource),
  ],
  [
    'links by mail to one address in all; the same for invitations and news',
    `${mails(mailLimits.inAll)}; then one after each ${span(quietMs)} without one`,
  ],
  ['links by mail to one address that such browsers ask for together', mails(mailLimits.ofDevices)],
  ['people of one account', String(mostPeople)],
  ['sessions of one person; beyond that, the oldest one ends', String(mostSessions)],
  [
    'live pages that are open in one session, and in one account',
    `${String(mostStreams.session)}, ${String(mostStreams.account)}; beyond that the oldest one pauses and is live again a minute later`,
  ],
  ['a link to the records of a domain works for', `${String(shareDays)} days`],
  ['such links of one domain', String(mostShares)],
  ['an uploaded archive', `${String(largestUpload / 1024 / 1024)} MiB`],
  ['an archive arrives within', span(uploadPace.longestMs)],
  [
    `an archive arrives, in any ${String(uploadPace.windowMs / 1000)} seconds, at`,
    `${String(uploadPace.slowest / 1024)} KiB per second or more`,
  ],
  ['archives of one account at once', String(uploadSlots.inAll.ofOne)],
  ['of these, unpacked at once', String(uploadSlots.unpacking.ofOne)],
];

const mails = ({ perHour, perDay }: { readonly perHour: number; readonly perDay: number }) =>
  `${String(perHour)} an hour, ${String(perDay)} a day`;

const numbers = ({ perMinute, perDay }: Limits) => [String(perMinute), String(perDay)];
