import { strikesForBan } from '../../src/access/domain/ban.ts';
import { passwordLength } from '../../src/access/domain/password.ts';
import { dashboardLimits, secretLength, signInLimits } from '../../src/access/domain/session.ts';
import { badKeyLimits } from '../../src/access/use-cases/meter-request.ts';
import { mostStreams } from '../../src/adapters/dashboard/live-streams.ts';
import { noticedMs } from '../../src/adapters/system/event-loop-watch.ts';
import { longestHealthMs } from '../../test/support/health-watch.ts';
import type { Defence } from './security-defence.ts';

export const signIn: readonly Defence[] = [
  {
    against: 'Guessed passwords, and owners locked out by guesses.',
    how:
      `${String(signInLimits.addressFromNetwork.perMinute)} passwords a minute for one email address from one network, ` +
      `${String(signInLimits.network.perMinute)} from one network for whomever. What is tried elsewhere counts for nobody else, ` +
      'and a browser in which the owner has signed in is counted by itself.',
    tests: ['unit/sign-in', 'unit/known-device', 'dashboard/sign-in', 'system/attacks'],
  },
  {
    against: 'Weak passwords.',
    how: `At least ${String(passwordLength.min)} characters, none of the commonest, stored with scrypt.`,
    tests: ['unit/password', 'contract/passwords'],
  },
  {
    against: 'Sign-in links of somebody else.',
    how: 'A link opens at once only where nobody is signed in and the request is not cross-site; else a button asks. It works once.',
    tests: ['dashboard/sign-in-links', 'dashboard/links-in-logs'],
  },
  {
    against: 'Stolen or fixed sessions.',
    how:
      `A secret of ${String(secretLength)} random characters, stored as its hash; a new one with each sign-in; cookies are ` +
      '`HttpOnly` and `SameSite=Lax`, over https `Secure` with `__Host-`.',
    tests: ['dashboard/sessions', 'dashboard/sign-in'],
  },
  {
    against: 'Forms of other sites (CSRF).',
    how: 'A form is accepted from our own pages only, by `Sec-Fetch-Site` and `Origin`.',
    tests: ['dashboard/cross-site', 'system/fuzz'],
  },
  {
    against: 'Text that runs as a script (XSS).',
    how: 'Pages escape all that is put into them. `Content-Security-Policy` takes scripts of our own files only.',
    tests: ['dashboard/hostile-text', 'dashboard/headers'],
  },
  {
    against: 'One person who asks for too much.',
    how:
      `${String(dashboardLimits.pages)} pages and ${String(dashboardLimits.forms)} forms a minute, ${String(mostStreams.session)} live ` +
      `pages in a session and ${String(mostStreams.account)} in an account. A live page is made once for all who look at it.`,
    tests: ['dashboard/request-limits', 'dashboard/many-streams', 'dashboard/live-streams'],
  },
];

export const accounts: readonly Defence[] = [
  {
    against: 'Accounts that see or change what belongs to others.',
    how: 'Every question names the account. What belongs to another account looks like what does not exist.',
    tests: ['http/tenants', 'dashboard/tenants', 'system/fuzz'],
  },
  {
    against: 'Guessed API keys.',
    how:
      'Keys are random and stored as hashes. An address may try ' +
      `${String(badKeyLimits.perMinute)} wrong ones a minute. A key that is refused ${String(strikesForBan)} times in a minute is banned.`,
    tests: ['http/limits', 'http/api-keys', 'unit/banned-key'],
  },
  {
    against: 'Secrets in logs, messages and files.',
    how:
      'Keys, links and bodies are not logged, addresses lose user and password. Private keys are sealed with AES-256-GCM. ' +
      'Files are for their own user only.',
    tests: [
      'dashboard/links-in-logs',
      'unit/redaction',
      'contract/sealer',
      'system/safe-start',
      'http/faults',
    ],
  },
  {
    against: 'A secret key that somebody has seen.',
    how: '`SECRET_KEY_PREVIOUS` lets it be replaced without losing what it sealed; a command seals all anew.',
    tests: ['system/secret-key-rotation', 'contract/sealed-values'],
  },
  {
    against: 'Answers that tell of the inside.',
    how: 'What is not foreseen is answered with a request id and nothing of its cause.',
    tests: ['http/faults', 'dashboard/failed-pages', 'system/fuzz'],
  },
  {
    against: 'Settings that endanger users.',
    how: 'In production, a weak `SECRET_KEY`, an `http` address, and a `PLATFORM_HOST` above the dashboard stop the start.',
    tests: ['unit/config', 'unit/secret-strength', 'system/safe-start'],
  },
];

export const whole: readonly Defence[] = [
  {
    against: 'One customer who holds up everybody.',
    how:
      `While attacks run against the real service, \`/healthz\` takes no longer than ${String(longestHealthMs)} ms, and memory and ` +
      'descriptors come back afterwards.',
    tests: ['system/attacks'],
  },
  {
    against: 'Work that holds up everybody and was not foreseen.',
    how:
      'The delay of the event loop is measured and exported. ' +
      `From ${String(noticedMs)} ms on the log names what ran.`,
    tests: ['http/event-loop-watch'],
  },
  {
    against: 'What nobody thought of.',
    how:
      'Hostile requests over the API, the dashboard and the edge (HTTP/1.1, HTTP/2 frames, TLS), and DNS answers. ' +
      'A short run is part of the tests; `make fuzz` is the long one.',
    tests: ['system/fuzz'],
  },
];
