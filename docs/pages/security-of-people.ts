import { strikesForBan } from '../../src/access/domain/api-key.ts';
import { mailLimits } from '../../src/access/domain/mail-request.ts';
import { passwordLength } from '../../src/access/domain/password.ts';
import {
  dashboardLimits,
  secretLength,
  sharedPageLimits,
  signInLimits,
} from '../../src/access/domain/session.ts';
import { shareDays } from '../../src/domains/domain/attachment/share.ts';
import { badKeyLimits } from '../../src/access/use-cases/callers.ts';
import { mostStreams } from '../../src/adapters/dashboard/frame/live-streams.ts';
import { noticedMs } from '../../src/adapters/system/event-loop-watch.ts';
import { longestHealthMs } from '../../test/support/service/health-watch.ts';
import type { Defence } from './security-defence.ts';

export const signIn: readonly Defence[] = [
  {
    against: 'Guessed passwords, and owners locked out by guesses.',
    how:
      `${String(signInLimits.addressFromNetwork.perMinute)} passwords a minute for one email address from one network, ` +
      `${String(signInLimits.network.perMinute)} from one network for all addresses, and not much more from a wider one. Attempts from one network do not lock out an owner in another, ` +
      'and a browser in which the owner has signed in has its own limit.',
    tests: [
      'use-cases/access/sign-in',
      'use-cases/access/known-device',
      'dashboard/signing-in',
      'release/attacks',
    ],
  },
  {
    against: 'A session in wrong hands that becomes the account.',
    how:
      'A new password needs the current one, even after a link that was made on the account page. Only a link that was mailed or ' +
      'that the operator made excuses from it, for one change.',
    tests: ['use-cases/access/choose-password', 'contract/access/password-change'],
  },
  {
    against: 'Weak passwords.',
    how: `At least ${String(passwordLength.min)} characters, and none of the commonest passwords. They are stored with scrypt.`,
    tests: ['unit/access/session', 'contract/access/passwords'],
  },
  {
    against: 'Sign-in by a link that somebody else sent.',
    how:
      'A link signs in at once only where nobody is signed in and the request is not cross-site. Otherwise a page names the account ' +
      'and asks with a button. A link works once.',
    tests: ['dashboard/signing-in'],
  },
  {
    against:
      'Addresses that are tried out, mailboxes that are flooded, and links that scanners of mail use up.',
    how:
      'A request for a link by mail only stores the address: the answer and its statements are the same for every address. ' +
      `One network gets ${String(mailLimits.ofSource.perHour)} links an hour and ${String(mailLimits.ofSource.perDay)} a day mailed to one address, all together ${String(mailLimits.inAll.perHour)} and ${String(mailLimits.inAll.perDay)}; ` +
      'a browser in which its person has signed in is counted by itself, but only if a link that was mailed, or that the operator made, ' +
      'proved the address. Networks are counted at several widths, and a flood slows down only itself. An account invites at most ' +
      `${String(signInLimits.invitations.perDay)} people a day. A link by mail opens a page with ` +
      'one button. Its address comes from the settings, not from the request. A changed password is told by mail.',
    tests: [
      'dashboard/mailed-links',
      'use-cases/access/mail-people',
      'contract/access/mail-requests',
      'release/personal-mails',
    ],
  },
  {
    against: 'Stolen or fixed sessions.',
    how:
      `A session secret has ${String(secretLength)} random characters, is stored as a hash, and is new at each sign-in. Its cookie is ` +
      '`HttpOnly` and `SameSite=Lax`; over https it is `Secure`, and its name begins with `__Host-`.',
    tests: ['dashboard/signing-in', 'use-cases/access/sign-in'],
  },
  {
    against: 'Forms of other sites (CSRF).',
    how: 'A form is accepted from our own pages only, by `Sec-Fetch-Site` and `Origin`.',
    tests: ['dashboard/foreign-requests', 'release/fuzz'],
  },
  {
    against: 'Text that runs as a script (XSS).',
    how: 'Pages escape every value. `Content-Security-Policy` allows scripts from our own files only.',
    tests: ['release/dashboard/hostile-text', 'dashboard/hostile-requests'],
  },
  {
    against: 'Text that commands the terminal of an operator.',
    how: 'Commands print no control characters and direction marks, such as those in DNS answers. JSON has them escaped.',
    tests: ['use-cases/app/terminal-text', 'release/custom-domain-dns'],
  },
  {
    against: 'One person who sends too many requests.',
    how:
      `${String(dashboardLimits.pages)} pages and ${String(dashboardLimits.forms)} forms a minute, ${String(mostStreams.session)} live ` +
      `pages in a session and ${String(mostStreams.account)} in an account. All viewers of a live page share one rendering.`,
    tests: [
      'dashboard/hostile-requests',
      'release/dashboard/heavy-pages',
      'dashboard/live-streams',
    ],
  },
];

export const accounts: readonly Defence[] = [
  {
    against: 'Accounts that see or change what belongs to others.',
    how: 'Every query names the account. A request for anything of another account gets the same answer as if it did not exist.',
    tests: ['http/tenants', 'dashboard/foreign-requests', 'release/fuzz'],
  },
  {
    against: 'Guessed API keys.',
    how:
      'Keys are random and stored as hashes. An address may try ' +
      `${String(badKeyLimits.perMinute)} wrong ones a minute. A key that is refused ${String(strikesForBan)} times in a minute is banned.`,
    tests: ['http/limits', 'http/api-keys', 'use-cases/access/banned-key'],
  },
  {
    against: 'Links to a domain that show more, or for longer, than they should.',
    how:
      `Such a link has ${String(secretLength)} random characters and is stored as a hash. It ends after ${String(shareDays)} days, with the ` +
      'domain, or when it is revoked. Its page shows nothing else of the account, asks search engines not to list it, and sends its address ' +
      `nowhere. A network may ask for ${String(sharedPageLimits.perMinute)} such pages a minute.`,
    tests: [
      'dashboard/shared-domains',
      'use-cases/domains/share-domain',
      'contract/domains/domain-shares',
    ],
  },
  {
    against: 'Secrets in logs, messages and files.',
    how:
      'API keys, links with a secret and bodies are not logged, and URLs are logged without user and password. Private keys are ' +
      'encrypted with AES-256-GCM. Only the user that the service runs as can read its files.',
    tests: [
      'dashboard/signing-in',
      'unit/app/settings',
      'contract/sealer',
      'system/safe-start',
      'http/faults',
    ],
  },
  {
    against: 'A secret key that somebody has seen.',
    how:
      'You replace it with `SECRET_KEY_PREVIOUS`. Meanwhile, data that it encrypted, cursors that it signed and known browsers stay valid. A command ' +
      'encrypts everything under the new key.',
    tests: [
      'release/secret-key-rotation',
      'contract/engine/sealed-values',
      'unit/http/cursors',
      'use-cases/access/known-device',
    ],
  },
  {
    against: 'Error messages that reveal internals.',
    how: 'The answer to an unexpected error has a request id, but not the cause. Only the log has the cause.',
    tests: ['http/faults', 'dashboard/hostile-requests', 'release/fuzz'],
  },
  {
    against: 'Settings that endanger users.',
    how: 'The service does not start with a `PLATFORM_HOST` above the dashboard. In production it also refuses a weak `SECRET_KEY` or an `http` address.',
    tests: ['unit/app/config', 'unit/app/settings', 'system/safe-start'],
  },
];

export const whole: readonly Defence[] = [
  {
    against: 'One customer who holds up everybody.',
    how:
      `While attacks run against the real service, it never works longer than ${String(longestHealthMs)} ms before it answers ` +
      '`/healthz` (on a quiet machine), and memory and descriptors are back within a minute.',
    tests: ['release/attacks'],
  },
  {
    against: 'Unexpected work that blocks the event loop.',
    how:
      'We measure the delay of the event loop and export it. ' +
      `From ${String(noticedMs)} ms on, the log names the work that ran.`,
    tests: ['http/event-loop-watch'],
  },
  {
    against: 'Faults that no other test looks for.',
    how:
      'Random hostile requests go to the API, the dashboard and the edge (HTTP/1.1, HTTP/2 frames, TLS), and random DNS answers come back. ' +
      'A short run is part of the tests; `make fuzz` is the long one.',
    tests: ['release/fuzz'],
  },
];
