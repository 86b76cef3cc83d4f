import { passwordLength } from '../../src/access/domain/password.ts';
import type { Limits } from '../../src/access/domain/plan.ts';
import {
  dashboardLimits,
  invitationMs,
  sessionMs,
  shortLinkMs,
  signInLimits,
} from '../../src/access/domain/session.ts';
import { mostStreams } from '../../src/adapters/dashboard/frame/live-streams.ts';
import { largestUpload } from '../../src/adapters/dashboard/projects/upload-file.ts';
import { uploadPace } from '../../src/adapters/dashboard/projects/upload-pace.ts';
import { uploadSlots } from '../../src/adapters/dashboard/projects/uploads.ts';
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
  [
    'live pages that are open in one session, and in one account',
    `${String(mostStreams.session)}, ${String(mostStreams.account)}; beyond that the oldest one pauses and is live again a minute later`,
  ],
  ['an uploaded archive', `${String(largestUpload / 1024 / 1024)} MiB`],
  ['an archive arrives within', span(uploadPace.longestMs)],
  [
    `an archive arrives, in any ${String(uploadPace.windowMs / 1000)} seconds, at`,
    `${String(uploadPace.slowest / 1024)} KiB per second or more`,
  ],
  ['archives of one account at once', String(uploadSlots.inAll.ofOne)],
  ['of these, unpacked at once', String(uploadSlots.unpacking.ofOne)],
];

const numbers = ({ perMinute, perDay }: Limits) => [String(perMinute), String(perDay)];
