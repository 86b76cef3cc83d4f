import { keyLimits, nextBan, strikesForBan } from '../../src/access/domain/api-key.ts';
import { mailLimits, quietMs } from '../../src/access/domain/mail-request.ts';
import { passwordLength } from '../../src/access/domain/password.ts';
import { mostPeople } from '../../src/access/domain/person.ts';
import { planLimits, plans } from '../../src/access/domain/quota.ts';
import {
  askedCallLimits,
  dashboardLimits,
  invitationMs,
  mailedLinkMs,
  mostSessions,
  sessionMs,
  sharedPageLimits,
  shortLinkMs,
  signInLimits,
} from '../../src/access/domain/session.ts';
import { idempotencyRetentionMs, longestIdempotencyKey } from '../../src/access/ports.ts';
import { badKeyLimits } from '../../src/access/use-cases/callers.ts';
import { mostStreams } from '../../src/adapters/dashboard/frame/live-streams.ts';
import { edgeLimits, pieceBytes } from '../../src/adapters/edge/edge-limits.ts';
import { largestBody } from '../../src/adapters/http/operations/request-input.ts';
import { mostAtOnce, places } from '../../src/adapters/schedule/shares.ts';
import { largestUpload, uploadPace } from '../../src/adapters/uploads/receive-file.ts';
import { uploadSlots } from '../../src/adapters/uploads/slots.ts';
import { sweptTables } from '../../src/app/retention.ts';
import { petNameLength } from '../../src/catalogue/domain/pet.ts';
import { mostShares, shareDays } from '../../src/domains/domain/attachment/share.ts';
import { mostOfKind, mostOfRemoved } from '../../src/domains/domain/attachment/timeline-entries.ts';
import {
  type Budget,
  type BudgetName,
  budgetWords,
  caBudgets,
} from '../../src/domains/domain/certificates/ca-budget.ts';
import { largestAnswer, shownAtMost } from '../../src/domains/domain/dns/facts.ts';
import { mostKeptBytes } from '../../src/domains/domain/dns/judgement.ts';
import { restorableUntil } from '../../src/kernel/deletion.ts';
import { overlaps } from '../../src/kernel/overlap.ts';
import { bytesInWords } from '../../src/kernel/text.ts';
import { attemptsOfOnce, slowMs } from '../../src/notifications/domain/webhook-delivery.ts';
import { mostWebhooks } from '../../src/notifications/domain/webhook.ts';
import { formerMs } from '../../src/sites/domain/project-life.ts';
import { planAllowances } from '../../src/sites/domain/project.ts';
import { keptDeploys } from '../../src/sites/domain/site.ts';
import { code, type Printed, span, table } from './markdown.ts';

interface Rates {
  readonly perMinute: number;
  readonly perDay: number;
}
type Named = readonly [what: string, limit: string | number];

export const limitTables = (): Readonly<Record<string, Printed>> => ({
  plans: table(
    [
      ...['Plan', 'Requests per minute', 'Requests per day', 'Projects', 'Files that deploys keep'],
      ...['Custom domains', 'Domains added in an hour', '[Wildcards](domains.md#wildcards)'],
    ],
    plans.map(planRow),
  ),
  bans: table(['Ban', 'Minutes'], banLadder()),
  keyless: rates([
    ['requests of one network', planLimits.free],
    ['of these, with a wrong key', { ...badKeyLimits, perDay: undefined }],
  ]),
  api: numbers(api),
  kept: table(
    ['What', 'Kept for'],
    [
      ...sweptTables.map(({ what, keptMs }) => [what, span(keptMs)]),
      ['deleted projects and accounts', span(restorableUntil(new Date(0)).getTime())],
      ['former addresses of projects', span(formerMs)],
    ],
  ),
  attempts: rates(signIn),
  mails: table(
    ['Mails about access, to one address', 'Per hour', 'Per day'],
    mails.map(([what, { perHour, perDay }]) => [what, String(perHour), String(perDay)]),
  ),
  dashboard: numbers(dashboard),
  uploads: numbers(uploads),
  webhooks: numbers(webhooks),
  visitors: numbers(visitors),
  budgets: table(
    ['What', 'We stop at', 'The authority allows', 'Within'],
    (Object.keys(caBudgets) as BudgetName[]).map((name) => {
      const { stopAt, of, windowMs }: Budget = caBudgets[name];
      return [budgetWords[name], String(stopAt), String(of ?? '–'), span(windowMs)];
    }),
  ),
  dns: numbers(dns),
});

const numbers = (rows: readonly Named[]): Printed =>
  table(
    ['What', 'Limit'],
    rows.map(([what, limit]) => [what, String(limit)]),
  );

const rates = (
  rows: readonly (readonly [string, { perMinute: number; perDay?: number | undefined }])[],
): Printed =>
  table(
    ['What', 'Per minute', 'Per day'],
    rows.map(([what, { perMinute, perDay }]) => [what, String(perMinute), String(perDay ?? '–')]),
  );

const planRow = (plan: (typeof plans)[number]): readonly string[] => {
  const { projects, storedBytes, domains, domainsAddedPerHour, hasWildcards } =
    planAllowances[plan];
  const agreed = [String(projects), bytesInWords(storedBytes), String(domains)];
  return [
    code(plan),
    String(planLimits[plan].perMinute),
    String(planLimits[plan].perDay),
    ...(plan === 'enterprise' ? agreed.map(() => 'as agreed') : agreed),
    String(domainsAddedPerHour),
    hasWildcards ? 'yes' : 'no',
  ];
};

/** Each ban begins when the previous one ends, until they get no longer. */
const banLadder = (): readonly (readonly string[])[] => {
  const minutes: number[] = [];
  let ban = nextBan(undefined, new Date(0));
  for (; ban.minutes !== minutes.at(-1); ban = nextBan(ban, ban.until)) minutes.push(ban.minutes);
  return minutes.map((length, at) => [
    at === minutes.length - 1 ? `${String(at + 1)} and more` : String(at + 1),
    String(length),
  ]);
};

const api: readonly Named[] = [
  ['refused requests of one key in one minute that ban it', strikesForBan],
  ['a request body', bytesInWords(largestBody)],
  ['the name of an animal', `${petNameLength.min} to ${petNameLength.max} Unicode code points`],
  ['an `Idempotency-Key`', `${longestIdempotencyKey} characters`],
  ['an answer is kept under its `Idempotency-Key` for', span(idempotencyRetentionMs)],
  ['API keys of an account that work', keyLimits.inUse],
  ['all its keys; beyond that, we forget the oldest revoked or expired ones', keyLimits.kept],
  ['secrets of one key; beyond that, the one that ends first ends at once', keyLimits.secrets],
  ['after a rotation, the old secret works for, as chosen', Object.keys(overlaps).join(', ')],
];

const signIn: readonly (readonly [string, Rates])[] = [
  ['passwords for one email address, from one network', signInLimits.addressFromNetwork],
  ['passwords and sign-in links, from one network', signInLimits.network],
  ['passwords in a browser in which the person has signed in before', signInLimits.device],
  ['codes of a second factor, of one person', signInLimits.factor],
  ['current passwords, to choose a new one', signInLimits.current],
  ['requests for a link by mail, from one network', signInLimits.network],
  ['views of pages of shared links, from one network', sharedPageLimits],
  ['links that one person makes for themselves', signInLimits.ownLinks],
  ['invitations of one account, each new link counted', signInLimits.invitations],
];

const mails = [
  ['requested from one network, or by one account', mailLimits.ofSource],
  [
    'requested in a browser in which the person has signed in by a mailed link',
    mailLimits.ofSource,
  ],
  ['requested in all such browsers together', mailLimits.ofDevices],
  [`in all; beyond that, one after each ${span(quietMs)} without one`, mailLimits.inAll],
] as const;

const dashboard: readonly Named[] = [
  [
    'a password',
    `${passwordLength.min} to ${passwordLength.max} characters, none of the most common`,
  ],
  ['a session ends after', span(sessionMs)],
  ['sessions of one person; beyond that, the oldest one ends', mostSessions],
  ['a link of the first start or of `account create` works once, for', span(shortLinkMs)],
  ['a link of the Account page or of `user invite` works once, for', span(invitationMs)],
  ['a link requested on the sign-in page works once, for', span(mailedLinkMs)],
  ['people of one account', mostPeople],
  ['pages of one person in one minute', dashboardLimits.pages],
  ['forms of one person in one minute', dashboardLimits.forms],
  ['live pages that one person opens in one minute', dashboardLimits.streams],
  ['live pages of one session; beyond that, the oldest one pauses', mostStreams.session],
  ['live pages of one account', mostStreams.account],
  ['a link to the records of a domain works for', `${shareDays} days`],
  ['such links of one domain', mostShares],
];

const uploads: readonly Named[] = [
  ['deploys of a project that are kept, besides the served one', keptDeploys],
  ['an uploaded archive', bytesInWords(largestUpload)],
  ['an archive arrives within', span(uploadPace.longestMs)],
  [
    `and, in any ${span(uploadPace.windowMs)}, at`,
    `${bytesInWords(uploadPace.slowest)} per second or more`,
  ],
  ['uploads of one account at once', uploadSlots.inAll.ofOne],
  ['of these, unpacked at once', uploadSlots.unpacking.ofOne],
];

const perMinuteAndDay = ({ perMinute, perDay }: Rates) => `${perMinute} a minute, ${perDay} a day`;

const webhooks: readonly Named[] = [
  ['webhooks of an account', mostWebhooks],
  ['attempts at one delivery', attemptsOfOnce],
  ['tests and repeated deliveries of one account', perMinuteAndDay(askedCallLimits.ofAccount)],
  ['the same to one host, for all accounts', perMinuteAndDay(askedCallLimits.toHost)],
  ['waiting tests of one webhook', 1],
  ['concurrent calls of one worker', places.quick],
  [`in addition, to receivers that take longer than ${span(slowMs)}`, places.slow],
  ['of each of the two, for one account', mostAtOnce.account],
  ['of each of the two, for one account to one host and port', mostAtOnce.receiver],
  ['concurrent calls of one webhook', mostAtOnce.webhook],
];

const visitors: readonly Named[] = [
  ['open connections from one network', edgeLimits.connectionsOfNetwork],
  ['concurrent requests on one connection', edgeLimits.answersOfConnection],
  ['concurrent requests from one network', edgeLimits.answersOfNetwork],
  ['concurrent requests in one process', edgeLimits.answers],
  ['memory for answers to one network', bytesInWords(edgeLimits.bytesOfNetwork)],
  ['memory for answers in one process', bytesInWords(edgeLimits.bytes)],
  ['of this, an answer with a large file holds', bytesInWords(pieceBytes)],
  ['an answer that the visitor does not read is reset after', span(edgeLimits.stalledAnswerMs)],
  ['an HTTP/2 connection without progress ends after', span(edgeLimits.idleSessionMs)],
];

const dns: readonly Named[] = [
  [
    'one answer, evaluated',
    `${largestAnswer.records} records, ${largestAnswer.characters} characters`,
  ],
  [
    'one answer, kept and shown',
    `the first ${shownAtMost.records} records, ${shownAtMost.characters} characters of each`,
  ],
  ['all answers of one check, kept', bytesInWords(mostKeptBytes)],
  ['checks in a timeline', `the newest ${mostOfKind.checked}`],
  ['attempts in a timeline', `the newest ${mostOfKind.attempt}`],
  ['checks, and attempts, of a removed domain', `the newest ${mostOfRemoved}`],
];
