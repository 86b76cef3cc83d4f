import { safeParse } from 'valibot';
import {
  keyLimits,
  overlaps,
  nextBan,
  strikesForBan,
  type Ban,
} from '../../src/access/domain/api-key.ts';
import { idempotencyRetentionMs, longestIdempotencyKey } from '../../src/access/ports.ts';
import {
  planLimits,
  plans,
  windowNames,
  windowSeconds,
  type WindowName,
} from '../../src/access/domain/quota.ts';
import { askedCallLimits } from '../../src/access/domain/session.ts';
import { badKeyLimits } from '../../src/access/use-cases/callers.ts';
import { mostAtOnce, places } from '../../src/adapters/schedule/shares.ts';
import { slowMs, attemptsOfOnce } from '../../src/notifications/domain/webhook-delivery.ts';
import { mostWebhooks } from '../../src/notifications/domain/webhook.ts';
import { edgeLimits, pieceBytes } from '../../src/adapters/edge/edge-limits.ts';
import { largestBody } from '../../src/adapters/http/operations/request-input.ts';
import { ListPetsQuery } from '../../src/adapters/http/operations/schemas.ts';
import { petNameLength } from '../../src/catalogue/domain/pet.ts';
import { planAllowances } from '../../src/sites/domain/project.ts';
import { bytesInWords, inWords } from '../../src/kernel/text.ts';
import { restorableUntil } from '../../src/kernel/deletion.ts';
import { formerMs } from '../../src/sites/domain/project-life.ts';
import { keptDeploys } from '../../src/sites/domain/site.ts';
import { dashboardNumbers, dashboardUse, signInAttempts } from './dashboard-limits.ts';
import { budgets, limitColumns, limits as domainsByPlan } from './domain-examples.ts';
import { dnsNumbers } from './dns-limits.ts';
import { sweptTables } from '../../src/app/retention.ts';
import { code, page, printed, table } from './markdown.ts';
import { limits as ofDeploys } from './sites-page.ts';

export const limitsPage = (): string =>
  page(
    '# Limits',
    printed(
      'the numbers and rules in src/access, src/sites, src/adapters and src/app/retention.ts',
    ),
    'What they mean for a client, and how it should back off: [the API](api.md#limits). ' +
      'How we count them, and how operators manage them: [accounts and mail](accounts-and-mail.md#plans-quotas-and-bans). Operators also find there the ' +
      '[limits of the edge](edge.md#limits-of-the-edge), and [how many uploads and live pages](accounts-and-mail.md#dashboard) ' +
      'can be open at once.',
    '## Requests by plan',
    table(['Plan', 'Requests per minute', 'Requests per day'], plans.map(planRow)),
    'We count requests per account, over all its keys. ' +
      'An account on `enterprise` may have custom limits; these are the default ones.',
    '## Windows',
    table(['Window', 'Seconds', 'Begins'], windowNames.map(windowRow)),
    'If either window is full, the request is refused and counts in neither.',
    '## Bans',
    `A key that is refused ${String(strikesForBan)} times in one UTC minute is banned. ` +
      `A ban that begins less than ${hours(banMemoryMs())} after the previous one began is longer than the previous one:`,
    table(['Ban', 'Minutes'], banLadder()),
    '## Without a valid key',
    table(
      ['What', 'Per minute', 'Per day'],
      [
        ['requests of one address', ...numbers(planLimits.free)],
        ['of these, with a wrong key', String(badKeyLimits.perMinute), '–'],
      ],
    ),
    'One address is an IPv4 address, or the /64 network of an IPv6 address.',
    '## Other numbers of the API',
    table(['What', 'Limit'], others()),
    '## How long data is kept',
    table(
      ['What', 'Kept for'],
      sweptTables.map(({ what, keptMs }) => [what, days(keptMs)]),
    ),
    `A deleted project or account can be restored for ${days(restorableUntil(new Date(0)).getTime())}, and is gone soon after; the former address of a project is kept for ${days(formerMs)}. ` +
      'Everything else is kept until somebody deletes it.',
    '## Dashboard',
    table(['What', 'Per minute', 'Per day'], signInAttempts()),
    'A network address is an IPv4 address, or the /64 network of an IPv6 address. Around it, a /24 may do 8 times as much, a /56 twice, a /48 4 times, and an IPv6 /32 40 times as much. ' +
      'A browser in which somebody has signed in within a year has its own limit, so attempts by others do not affect it. ' +
      'Links count only for the network address: they still work when too many passwords were tried for the email address. ' +
      'More: [signing in](dashboard.md#signing-in).',
    table(['Once signed in', 'Per minute'], dashboardUse()),
    table(['What', 'Limit'], dashboardNumbers()),
    '## Deploys',
    table(['What', 'Limit'], ofDeploys()),
    `We keep the last ${String(keptDeploys)} deploys of a project and the served one. More: ` +
      '[sites](sites.md#what-a-deploy-may-hold).',
    '## Webhooks',
    table(['What', 'Limit'], ofWebhooks()),
    'How they are tried again, and when they are switched off: [webhooks](webhooks.md#answers-and-trying-again).',
    '## Visitors of sites',
    'A network is an IPv4 address, or the /64 network of an IPv6 address. Requests beyond a limit get 503 with ' +
      '`Retry-After`, over HTTP/2 `REFUSED_STREAM`. All limits: [limits of the edge](edge.md#limits-of-the-edge).',
    table(['What', 'Limit'], ofVisitors()),
    '## Projects and files',
    table(
      ['Plan', 'Projects of an account', 'Files that its deploys keep, unpacked'],
      allowances(),
    ),
    'A deploy that does not fit is refused. An account at a limit keeps what it has; see [what a deploy may hold](sites.md#what-a-deploy-may-hold).',
    '## Custom domains',
    table(limitColumns, domainsByPlan()),
    'Domains that you add and remove within the hour count too: each could have used a certificate.',
    'Limits of our requests to the certificate authority:',
    table(['What', 'We stop at', 'The authority allows', 'Within'], budgets()),
    'How much of the DNS answers of a domain we evaluate, keep and show:',
    table(['What', 'Limit'], dnsNumbers()),
    'When we check the DNS, and when we retry: [custom domains](domains.md#when-the-dns-is-checked).',
  );

const mebibytes = (bytes: number) => `${String(bytes / 1024 / 1024)} MiB`;
const seconds = (milliseconds: number) => `${String(milliseconds / 1000)} seconds`;

const ofVisitors = (): readonly (readonly string[])[] => {
  const limits = edgeLimits;
  return [
    ['open connections from one network', String(limits.connectionsOfNetwork)],
    ['concurrent requests on one connection', String(limits.answersOfConnection)],
    ['concurrent requests from one network', String(limits.answersOfNetwork)],
    ['concurrent requests in one process', String(limits.answers)],
    ['memory for answers to one network', mebibytes(limits.bytesOfNetwork)],
    ['memory for answers in one process', mebibytes(limits.bytes)],
    ['of this, an answer with a large file holds', `${String(pieceBytes / 1024)} KiB`],
    ['an answer that the visitor does not read is reset after', seconds(limits.stalledAnswerMs)],
    ['an HTTP/2 connection without progress ends after', seconds(limits.idleSessionMs)],
  ];
};

const ofWebhooks = (): readonly (readonly string[])[] => [
  ['webhooks of an account', String(mostWebhooks)],
  ['attempts at one delivery', String(attemptsOfOnce)],
  [
    'tests and deliveries sent again, of one account',
    `${String(askedCallLimits.ofAccount.perMinute)} a minute, ${String(askedCallLimits.ofAccount.perDay)} a day`,
  ],
  [
    'the same to one host, for all accounts together',
    `${String(askedCallLimits.toHost.perMinute)} a minute, ${String(askedCallLimits.toHost.perDay)} a day`,
  ],
  ['tests of one webhook that wait', '1'],
  ['calls of one worker at a time', String(places.quick)],
  [`in addition, of receivers that take longer than ${inWords(slowMs)}`, String(places.slow)],
  ['of each of the two, for one account', String(mostAtOnce.account)],
  ['of each of the two, for one account to one host and port', String(mostAtOnce.receiver)],
  ['calls of one webhook at a time', String(mostAtOnce.webhook)],
];

const allowances = (): readonly (readonly string[])[] => [
  ...Object.entries(planAllowances).map(([plan, { projects, storedBytes }]) =>
    plan === 'enterprise'
      ? [code(plan), 'as agreed', 'as agreed']
      : [code(plan), String(projects), bytesInWords(storedBytes)],
  ),
];

const planRow = (plan: (typeof plans)[number]) => [code(plan), ...numbers(planLimits[plan])];

const numbers = ({ perMinute, perDay }: { perMinute: number; perDay: number }) => [
  String(perMinute),
  String(perDay),
];

const begins: Readonly<Record<WindowName, string>> = {
  minute: 'with every minute of UTC',
  day: 'at midnight UTC',
};

const windowRow = (window: WindowName) => [
  code(window),
  String(windowSeconds[window]),
  begins[window],
];

const start = new Date(0);
const hourMs = 3_600_000;

const laterBy = (milliseconds: number, { since }: Ban) => new Date(since.getTime() + milliseconds);

/** Each ban as soon as the one before it is over, until they grow no more. */
const banLadder = (): readonly (readonly string[])[] => {
  const minutes: number[] = [];
  let ban = nextBan(undefined, start);
  for (; ban.minutes !== minutes.at(-1); ban = nextBan(ban, ban.until)) minutes.push(ban.minutes);
  return minutes.map((length, at) => [
    at === minutes.length - 1 ? `${String(at + 1)} and more` : String(at + 1),
    String(length),
  ]);
};

/** After how many whole hours a ban is forgotten, found out by asking. */
const banMemoryMs = (): number => {
  const first = nextBan(undefined, start);
  let after = hourMs;
  while (nextBan(first, laterBy(after, first)).minutes > first.minutes) after += hourMs;
  return after;
};

const days = (milliseconds: number) => {
  const number = milliseconds / (24 * hourMs);
  return number === 1 ? '1 day' : `${String(number)} days`;
};

const hours = (milliseconds: number) => `${String(milliseconds / hourMs)} hours`;

const others = (): readonly (readonly string[])[] => {
  const sizes = Array.from({ length: 1000 }, (_, size) => size).filter(
    (size) => safeParse(ListPetsQuery, { limit: String(size) }).success,
  );
  const usual = safeParse(ListPetsQuery, {});
  return [
    ['size of a request body', `${String(largestBody)} bytes (${String(largestBody / 1024)} KiB)`],
    [
      'length of a page (`limit`)',
      `${String(sizes[0])} to ${String(sizes.at(-1))}, ${String(usual.success ? usual.output.limit : '')} by default`,
    ],
    [
      'name of an animal',
      `${String(petNameLength.min)} to ${String(petNameLength.max)} Unicode code points`,
    ],
    ['length of an `Idempotency-Key`', `${String(longestIdempotencyKey)} characters`],
    ['we keep an answer under its `Idempotency-Key` for', hours(idempotencyRetentionMs)],
    ['API keys of an account that work', String(keyLimits.inUse)],
    [
      'all its keys; beyond that, the oldest revoked or expired ones are forgotten',
      String(keyLimits.kept),
    ],
    [
      'secrets of one key; beyond that, those that end first end at once',
      String(keyLimits.secrets),
    ],
    [
      'a rotated key: its old secret stays valid for',
      `${Object.keys(overlaps).map(code).join(', ')}, as chosen with the rotation`,
    ],
  ];
};
