import { stringify } from 'yaml';
import { longestSettings } from '../../src/app/domain-settings-text.ts';
import { customDomainStates } from '../../src/sites/domain/custom-domain.ts';
import { dnsProblems } from '../../src/sites/domain/dns-problem.ts';
import { bindSnippet, recordHints } from '../../src/sites/domain/dns-records.ts';
import { mostOfKind, mostOfRemoved } from '../../src/sites/domain/domain-timeline.ts';
import { largestAnswer } from '../../src/sites/domain/dns-facts.ts';
import { shownAtMost } from '../../src/sites/domain/shortened.ts';
import { redirectStatuses } from '../../src/sites/domain/domain-settings.ts';
import {
  attempts,
  budgets,
  checkTimes,
  exampleRecords,
  exampleSettings,
  limits,
  names,
  recordRow,
  tryingDays,
} from './domain-examples.ts';
import { code, list, page, printed, table } from './markdown.ts';
import { refusals } from './domain-refusals.ts';

const block = (language: string, text: string) => ['```', language, '\n', text, '```'].join('');

export const domainsPage = (): string =>
  page(
    '# Custom domains',
    printed('the rules in src/sites/domain'),
    'For those whose site is to be found under a name of their own, such as `shop.example.com`. ' +
      'How it is run: [operations](operations.md#custom-domains). Every state and step: ' +
      '[lifecycles](lifecycles.md#custom-domain). You do all of it in the [dashboard](dashboard.md), on the page ' +
      'Domains of a project; the operator has the commands shown here, which do the same.',
    '## The steps',
    [
      '1. Publish the project: a domain needs something to serve, and [a plan](#how-many) with room for it.',
      '2. Add the domain. Nothing is asked of anybody yet; you are shown the records to create.',
      '3. Create them where the DNS of your domain is managed.',
      '4. Wait, or verify: the DNS is looked at again and again by itself, and at once when you say so.',
      '5. When it is right, a certificate is ordered, which takes some seconds. Then the domain is `live`: served ' +
        'over HTTPS.',
    ].join('\n'),
    block(
      'sh',
      [
        `./animal-store domain add ${names.host} --project birds`,
        `./animal-store domain verify ${names.host} --project birds`,
        `./animal-store domain show ${names.host} --project birds`,
        '',
      ].join('\n'),
    ),
    `The states are ${list(customDomainStates)}. What was verified once is not taken back when the DNS is wrong ` +
      'later: a site that is served goes on, and `health` says `at_risk` with the problem, so that there is ' +
      'time before the certificate ends. Then it says `certificate_expired`.',
    '## How many',
    table(['Plan', 'Custom domains of an account', 'Added in an hour'], limits()),
    'Removed ones do not count for the first number, and do for the second.',
    '## The records',
    `For ${code(names.host)}, a name below your domain:`,
    table(
      ['Name', 'Type', 'Value', 'TTL', 'Has to be there'],
      exampleRecords(false).map(recordRow),
    ),
    block('', bindSnippet(exampleRecords(false), names.registrableDomain)),
    `For ${code(names.registrableDomain)}, the domain itself (its apex):`,
    table(['Name', 'Type', 'Value', 'TTL', 'Has to be there'], exampleRecords(true).map(recordRow)),
    'The value is made for this one domain on this one project and never given to anybody else. So a record that ' +
      'is left behind leads nowhere, and nobody else can use it. Copy it from `domain show`, not from here.',
    recordHints(true)
      .map((hint) => `- ${hint}`)
      .join('\n'),
    'An apex cannot have a CNAME, since other records stand there. ALIAS and ANAME (some call it CNAME flattening) ' +
      'answer with our addresses instead. Where your provider has neither, add `www` and let the provider lead the apex ' +
      'there.',
    'The TXT record proves that the name is yours. It has to be there for an apex, where every name exists through a ' +
      'wildcard record, where the CNAME leads to the bare platform host instead of your own value, and where somebody ' +
      'else proved [the same name](#when-somebody-else-has-the-name) before. Else it is optional. Others may stand beside it.',
    '## Which names',
    'Type it as you like: capitals, a dot at the end and letters such as ü are understood, and shown as they are. ' +
      'Refused is:',
    table(['Code', 'Meaning', 'What to do'], refusals()),
    '## Problems',
    'Each tells what was seen, what is wanted, and what to do. `blocking`: it stands in the way. `warning`: it does ' +
      'not, for now. `ours`: nothing to do for you, it is tried again by itself. `final`: only another name helps.',
    table(
      ['Problem', 'Kind', 'Who acts', 'What to do'],
      Object.entries(dnsProblems).map(([name, { severity, actor, fix }]) => [
        code(name),
        severity,
        { customer: 'you', us: 'we', nobody: 'nobody' }[actor],
        fix,
      ]),
    ),
    '## When the DNS is looked at',
    `Counted from adding, or from the last time that you verified: ${checkTimes()} Each wait is up to a tenth shorter or longer. ` +
      'A domain that is not verified by then is removed, with the reason `expired`. Once it is verified the checks ' +
      'go on, daily in the end, and hourly while a certificate waits for the DNS.',
    'You may verify once in 10 seconds. On a `verified` domain it starts a fresh attempt at the certificate, 30 minutes after ' +
      'the last one at the earliest; the refusal tells how long to wait.',
    'Several resolvers are asked, each by itself, and nothing is remembered from one check to the next. What more than half of ' +
      'them see counts. Where some still see something else, the problem is `propagation_incomplete`, with who sees what.',
    '## Certificates',
    'Nothing to do for you: ordered when the domain is verified, renewed in time, one for each name. ' +
      'Before each order the DNS and the CAA records are looked at as the authority will do, so that what would fail ' +
      'costs nothing. The old certificate is served until the next one is there.',
    `A failed attempt is made again:`,
    table(['After failure', 'Next attempt'], attempts()),
    `This goes on for ${tryingDays} days; then verify the domain to begin anew. What a live domain is renewed with is tried ` +
      'until it succeeds. When CAA forbids it, the next attempt waits for a check that finds the DNS correct; where only the authority ' +
      'sees the CAA record, that is the next check. When the authority rejects the name, it waits for you. When the authority says how long to wait, that counts.',
    'Authorities refuse who asks too often. So there are budgets, kept over all processes:',
    table(['What', 'We stop at', 'The authority allows', 'Within'], budgets()),
    'A row without a number of the authority is a share of what we stop at, so that one account cannot use up what all ' +
      'need. A certificate for the host of a project counts for its account too; renewals do not. A renewal that the ' +
      'authority knows as one needs only the first two budgets, and is counted in none.',
    'When the answer to an order is lost, that order counts all the same, and the next attempt asks for another one.',
    'A used-up budget postpones an attempt, which costs no failure. The page of the domain and `domain show` name the ' +
      'limit and the time; for the host of a project, its page does.',
    '## When somebody else has the name',
    'Several accounts may add the same name; who proves it gets it. Where it is verified or live already, you need the ' +
      'TXT record. With it, the name is yours, and the domain of the other account is `removed` with the reason ' +
      '`contested`. Without it, the other one keeps it.',
    '## Removing',
    'From then on no visitor gets the site under that name, within a second. The certificate and its key are destroyed. ' +
      'Then delete the DNS records: they lead nowhere. ' +
      'Add the name again and it starts over, with another value.',
    '## Primary domain and redirects',
    'A project has one document about its domains. `domain config` prints it, as YAML or with `--format json` as JSON, ' +
      'and takes the same shape from a file, or from standard input with `-`:',
    block('yaml', stringify(exampleSettings())),
    block(
      'sh',
      [
        './animal-store domain config --project birds > domains.yaml',
        './animal-store domain config domains.yaml --project birds',
        '',
      ].join('\n'),
    ),
    [
      '- `primary`: the domain that the project is known by, or `null`. The first domain that goes live becomes it, unless you chose one. It cannot be redirected.',
      '- `from`: a domain of the project, with a certificate of its own. `to`: another one, or an address such as ' +
        '`https://example.com/shop`, without user, query or fragment. Path and query are kept.',
      `- \`status\`: ${redirectStatuses.map(String).join(', ')}; 308 when it is left out. 307 and 308 keep the verb.`,
    ].join('\n'),
    'Refused: a domain that the project does not have (`redirect_unknown_domain`), a redirect in a loop or to itself ' +
      '(`redirect_loop`), to a domain that is redirected itself (`redirect_chain`), and anything else that cannot be ' +
      '(`redirect_invalid`). A redirect to a domain that is not live is suspended until it is: `from` shows the site meanwhile. ' +
      '`domain config` says so on standard error.',
    `A document has at most ${longestSettings / 1024} KiB. Of YAML, plain names and values are read: no tags, anchors, aliases, merge keys or ` +
      'directives.',
    'The page Domains of the dashboard shows the same document, and imports one. What is wrong with it is told with its place, ' +
      'such as `domains.redirects[0].to`, and with what would be right there; nothing changes then.',
    '## What happened',
    `Of long answers the page and the timeline show the first ${String(shownAtMost.records)} records, ` +
      `${String(shownAtMost.characters)} characters of each, and how many more there are; what decides comes first. ` +
      'All of an answer is judged, up to ' +
      `${String(largestAnswer.records)} records and ${String(largestAnswer.characters / 1024)} Ki characters. Beyond that the problem is ` +
      '`dns_answer_too_large`.',
    'The page of a domain, and `domain show --json`, have the timeline, newest first: the checks with what each resolver ' +
      'answered, and the attempts with what came of them. Of both the newest ' +
      `${String(mostOfKind.checked)} are kept, for 90 days; once the domain is removed, the newest ${String(mostOfRemoved)}. ` +
      'When it was added, verified, live, renewed and removed is kept for good. When a name is removed and added ' +
      'again, that is another attachment with a timeline of its own; the earlier one is behind its row under ' +
      '"Removed" on the page Domains.',
  );
