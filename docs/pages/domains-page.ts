import { mostShares, shareDays } from '../../src/domains/domain/attachment/share.ts';
import { stringify } from 'yaml';
import { providers } from '../../src/domains/domain/dns/provider.ts';
import { providerRow } from './domain-providers.ts';
import { longestSettings } from '../../src/app/domain-settings/text.ts';
import { customDomainStates } from '../../src/domains/domain/attachment/custom-domain.ts';
import { dnsProblems } from '../../src/domains/domain/dns/problem.ts';
import { bindSnippet, recordHints } from '../../src/domains/domain/dns/records.ts';
import { mostOfKind, mostOfRemoved } from '../../src/domains/domain/attachment/timeline-entries.ts';
import { largestAnswer, shownAtMost } from '../../src/domains/domain/dns/facts.ts';
import { redirectStatuses } from '../../src/domains/domain/redirects/settings.ts';
import {
  attempts,
  budgets,
  checkTimes,
  exampleDelegation,
  exampleRecords,
  exampleSettings,
  exampleWildcard,
  limitColumns,
  limits,
  names,
  recordRow,
  tryingDays,
} from './domain-examples.ts';
import { code, list, page, printed, table } from './markdown.ts';
import { refusals } from './domain-refusals.ts';
import { movingASite } from './moving-a-site.ts';

const block = (language: string, text: string) => ['```', language, '\n', text, '```'].join('');

export const domainsPage = (): string =>
  page(
    '# Custom domains',
    printed('the rules in src/domains/domain'),
    'Serve your site under your own domain, such as `shop.example.com`. ' +
      'For operators: [certificates and DNS](certificates-and-dns.md#custom-domains). All states: [lifecycles](lifecycles.md#custom-domain). You manage domains in the [dashboard](dashboard.md), on the Domains page of a project. The commands shown here do the same for operators.',
    '## The steps',
    [
      '1. Publish the project: a domain needs something to serve, and [a plan](#how-many) with room for it.',
      '2. Add the domain. We show you the records to create. No DNS lookup happens yet.',
      '3. Create them where the DNS of your domain is managed.',
      '4. Wait, or verify: we check the DNS automatically, and at once when you press **Verify**.',
      '5. When the records are right, we order a certificate, which takes some seconds. Then the domain is `live`: served ' +
        'over HTTPS.',
    ].join('\n'),
    'In step 2, a ticked box adds the other of `example.com` and `www.example.com`, too ([two names in one step](#two-names-in-one-step)).',
    block(
      'sh',
      [
        `./animal-store domain add ${names.host} --project birds`,
        `./animal-store domain verify ${names.host} --project birds`,
        `./animal-store domain show ${names.host} --project birds`,
        '',
      ].join('\n'),
    ),
    `The states are ${list(customDomainStates)}. A verified domain stays verified if its DNS breaks later: ` +
      'we keep serving a live site, and `health` says `at_risk` with the problem, so that you can fix it before the ' +
      'certificate expires. After that, `health` says `certificate_expired`.',
    '## How many',
    table(limitColumns, limits()),
    'Removed domains do not count towards the first number, but do count towards the second.',
    '## The records',
    `For ${code(names.host)}, a name below your domain:`,
    table(['Name', 'Type', 'Value', 'TTL', 'Required'], exampleRecords(false).map(recordRow)),
    block('', bindSnippet(exampleRecords(false), names.registrableDomain)),
    `For ${code(names.registrableDomain)}, the domain itself (its apex):`,
    table(['Name', 'Type', 'Value', 'TTL', 'Required'], exampleRecords(true).map(recordRow)),
    'The value belongs to this domain on this project and is never used again. So a record left behind is harmless: ' +
      'it points to nothing, and nobody else can use it. Copy the value from `domain show`, not from here.',
    recordHints({ host: names.registrableDomain, isApex: true })
      .map((hint) => `- ${hint}`)
      .join('\n'),
    'An apex cannot have a CNAME, because it has other records. ALIAS and ANAME (some call it CNAME flattening) ' +
      'answer with our addresses instead. If your provider has neither, add `www` and let the provider redirect the apex to ' +
      'it.',
    'The TXT record proves that the name is yours. It is required for an apex, for a zone with a wildcard record, if the CNAME points to the bare platform host ' +
      'instead of your own value, and if somebody else has proved [the same name](#when-somebody-else-has-the-name) or a wildcard over it. ' +
      'Otherwise it is optional. Other TXT records may exist beside it.',
    '### Validation by DNS',
    'Where the operator has [a zone for it](certificates-and-dns.md#setting-up-the-zone), we show one more record:',
    table(['Name', 'Type', 'Value', 'TTL', 'Required'], exampleDelegation().map(recordRow)),
    'It is optional. With it, the certificate authority asks the DNS for the proof instead of your site, so that certificates are ' +
      'issued and renewed whatever stands in front of the site, such as a proxy or a firewall. It also proves that the name is ' +
      'yours, like the TXT record. The report says whether we see it (`validation` in `domain show --json`). Leave it there: ' +
      'if it is gone, the next certificate is validated over HTTP again.',
    'If a CAA record has `validationmethods`, it must allow `dns-01` with this record, or `http-01`. We use the one that it allows.',
    'If the authority does not find the proof by DNS, the next attempt is over HTTP, if your name leads here, and the one after that by ' +
      'DNS again.',
    ...movingASite,
    '### Two names in one step',
    'Visitors type a name with and without `www`. So for a registrable domain and its `www`, the dashboard offers a ticked box that adds both: with `example.com` also ' +
      '`www.example.com`, and the other way round. You get the records of both side by side, and one redirect ' +
      '(308) from the other name to the one that you typed. Each name has its own value and certificate, and counts as one domain. The redirect starts once both ' +
      'are live; until then, a live one shows the site.',
    'Both are added, or neither: if one of them is refused, for example because the plan has room for one only, the message says which, and ' +
      'whether you can add the other one by itself. If another redirect of the project leads to the second name, both are added ' +
      'without a redirect, because visitors are redirected once at most; the page says which one to change. A wildcard, and a name such as `www.co.uk` without ' +
      'a second one, is added alone. `domain add` adds one name, and both with `--pair`.',
    'What you see then. Beside the required record and the TXT record, each name has the one for [validation by DNS](#validation-by-dns):',
    '![Two names that were just added, with the records to create](screenshots/domain-added-light.webp)',
    '## Which names',
    'You can type capitals, a trailing dot and letters such as ü. These names are refused:',
    table(['Code', 'Meaning', 'What to do'], refusals()),
    '## Wildcards',
    'On the plans Business and Enterprise you can add `*.shop.example.com`, where the operator has [a zone for it](certificates-and-dns.md#setting-up-the-zone). ' +
      'It serves every name that has one part before `shop.example.com`, such as `a.shop.example.com`; neither `shop.example.com` itself, nor `a.b.shop.example.com`. It counts as one domain. In a shell, put the name in quotes.',
    block('sh', "./animal-store domain add '*.shop.example.com' --project birds\n"),
    'It needs two records, both required:',
    table(['Name', 'Type', 'Value', 'TTL', 'Required'], exampleWildcard().map(recordRow)),
    [
      '- The second record proves that the name is yours, and lets us get the certificate: authorities validate wildcards by DNS only. A TXT record does not do, and the wildcard record does not stand in for it (`delegation_missing`).',
      '- `_acme-challenge.shop` can lead to one place only. If you add `shop.example.com` to the same project, we show the same record for it, and both are validated with that. It proves the wildcard alone, so for the certificate of `shop.example.com` to be ready before its traffic comes, its TXT record has to be there, too. In another project, leave that record out: the name is then validated over HTTP, once its traffic comes.',
      '- Of CAA records, `issuewild` counts, and `issue` where there is none.',
      '- A name that you add by itself, such as `blog.shop.example.com`, wins over the wildcard, with its own certificate. Once you remove it, the wildcard serves it again, at the next request.',
      '- Another account can have `blog.shop.example.com`, if it proves that name by itself. You keep all other names. While it is verified and waits for its certificate, your wildcard does not answer for it.',
      '- A wildcard can be redirected, but it is neither the primary domain nor the target of a redirect.',
      '- To check a wildcard, we look up a made-up name below it; the page shows which one. Names with records of their own may lead elsewhere, and we do not see that.',
    ].join('\n'),
    '## Problems',
    'Each problem shows what we found, what we expect, and what to do. `blocking`: the domain cannot go live. `warning`: ' +
      'it can. `ours`: we retry, and you need not do anything. `final`: you need a different name.',
    table(
      ['Problem', 'Kind', 'Who acts', 'What to do'],
      Object.entries(dnsProblems).map(([name, { severity, actor, fix }]) => [
        code(name),
        severity,
        { customer: 'you', us: 'we', nobody: 'nobody' }[actor],
        fix,
      ]),
    ),
    '## When the DNS is checked',
    `We check the DNS, counted from Add or from your last Verify, ${checkTimes()} Each wait is up to a tenth shorter or longer. ` +
      'A domain that is not verified by then is removed with the reason `expired`. Once it is verified, checks continue, daily in ' +
      'the end, and hourly while a certificate waits for the DNS. A live domain is checked hourly; one that leads elsewhere is checked again ' +
      'after 4, 12, 28 and 60 minutes, and [you are told](notifications.md). ' +
      'A domain whose [certificate is ready](#moving-a-running-site-without-a-gap) is checked hourly, and kept for as long as that certificate is renewed.',
    'You can verify every 10 seconds. On a `verified` domain, Verify starts a new attempt to get the certificate, at the ' +
      'earliest 30 minutes after the last one; before that, the message says how long to wait.',
    'We ask several resolvers, each separately, and cache nothing between checks. A record counts if more than half of ' +
      'them see it. If some still see something else, the problem is `propagation_incomplete`, which lists the answer of each.',
    'A resolver that validates DNSSEC refuses a name whose signatures are wrong, as browsers and the certificate authority then do. ' +
      'When a resolver fails, we ask it again with checking disabled; if it answers that, and still fails with checking, the problem is `dnssec_bogus`, with ' +
      'what the resolver says of it. Resolvers that do not validate cannot see this, so they do not count here.',
    '## At your DNS provider',
    'After the first check, the page of a domain names the provider that its name servers belong to, shows each record as the form of ' +
      'that provider wants it, and says what is particular there. A provider is known by all name servers of the zone; those that ' +
      'carry a name of your own tell us nothing, and then we show the records as most providers want them.',
    'This is what we know, and from where. What we found in no source is left out.',
    table(['Provider', 'Name', 'The domain itself', 'Value', 'From'], providers.map(providerRow)),
    '## When somebody else manages your DNS',
    'On the page of a domain, **Create link** makes a link for the person who looks after its DNS. It opens a page without ' +
      'signing in, which shows the records with copy buttons, the problems, and the state of this one domain, as they are then. It ' +
      'shows nothing else of your account, and nothing can be changed there.',
    `A link ends after ${String(shareDays)} days, when you revoke it, or when the domain is removed. A domain can have ` +
      `${String(mostShares)} of them. Everybody of the account can make and revoke them, and the audit log says who did. We store only ` +
      'a hash of a link, so it is shown once; if it is lost, make another one. Search engines are told not to list the page.',
    '```sh\n./animal-store domain share shop.example.com --project birds\n./animal-store domain share shop.example.com --project birds --list\n./animal-store domain share shop.example.com --project birds --end share_1\n```',
    '## Certificates',
    'Certificates are automatic: one for each name, ordered when the domain is verified and renewed in time. ' +
      'Before each order we check the DNS and CAA records as the certificate authority will, so that an order that would fail ' +
      'costs nothing. We serve the old certificate until the new one is ready.',
    `We retry failed attempts:`,
    table(['After failure', 'Next attempt'], attempts()),
    `Retries stop after ${tryingDays} days; verify the domain to start again. Renewals retry until they succeed, more often as ` +
      'the end of the certificate comes near: they wait at most for a twentieth of the time that is left, and never under a minute. ' +
      'If CAA forbids the certificate, the next attempt waits for a check that finds the DNS correct; if only the authority sees ' +
      'the CAA record, it waits for the next check. If the authority rejects the name, it waits for you. If the authority says how ' +
      'long to wait, we wait that long.',
    'Certificate authorities limit requests. So we keep budgets, over all processes:',
    table(['What', 'We stop at', 'The authority allows', 'Within'], budgets()),
    'A row of orders or new certificates without a limit of the authority is the share of one account, so that one account cannot use up the budget of all. A ' +
      'certificate for a project host counts towards its account too; renewals do not. A renewal that the authority recognises ' +
      'needs only the first two budgets, and counts towards none; if it does not exempt it after all, the order waits for the others, too.',
    'If the answer to an order is lost, that order still counts, and the next attempt places a new one.',
    'A used-up budget postpones an attempt, and does not count as a failure. The domain page and `domain show` name the ' +
      'limit and the time; for a project host, the project page does.',
    '## When somebody else has the name',
    'Several accounts may add the same name; the one that proves it gets it. If another account has it verified or live, ' +
      'you need the TXT record, or for a wildcard the one at `_acme-challenge`. With it, the name becomes yours, and the domain of the other account is `removed` with the ' +
      'reason `contested`. Without it, the other account keeps the name. ' +
      'The same holds if its [certificate is ready](#moving-a-running-site-without-a-gap), except that its domain stays `added` and loses the certificate. ' +
      'The certificate, if there is one, becomes yours with the name: from one moment to the next visitors get your site, and none meets an error. ' +
      'We tell you when another account proves a name that you wait for, or a wildcard over it, and when you add one that is proven already.',
    '## Removing',
    'Within a second, no visitor gets the site under that name. The certificate and its key are destroyed. ' +
      'Then delete the DNS records: they point to nothing. If you add the name again, it starts over with a new value.',
    '## Primary domain and redirects',
    'A project has one document about its domains. `domain config` prints it, as YAML or with `--format json` as JSON, ' +
      'and reads the same format from a file, or from standard input with `-`:',
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
      '- `primary`: the main domain of the project, or `null`. It cannot be redirected. Without the line, nobody has chosen: then the first domain that goes live and is not redirected becomes the primary one, and when it is removed, the next one does. `null` is a choice, too: no domain becomes the primary one by itself. What is printed has the line only if there is a primary domain or a choice. `domain primary`, and “Make primary” in the menu of a live domain, choose it alone: if the domain redirects to the present primary one, that redirect is turned round. `domain primary` also prints it, and `domain primary --none` chooses none.',
      '- `from`: a domain of the project, with a certificate of its own. `to`: another one, or an address such as ' +
        '`https://example.com/shop`, without user, query or fragment. Path and query are kept.',
      `- \`status\`: ${redirectStatuses.map(String).join(', ')}; the default is 308. 307 and 308 keep the verb.`,
    ].join('\n'),
    'These are refused: a domain that the project does not have (`redirect_unknown_domain`), a redirect in a loop or to itself ' +
      '(`redirect_loop`), to a domain that is redirected itself (`redirect_chain`), and anything else that is invalid ' +
      '(`redirect_invalid`). A redirect to a domain that is not live is suspended until it is: `from` shows the site meanwhile. ' +
      '`domain config` says so on standard error.',
    `A document has at most ${longestSettings / 1024} KiB. YAML may have plain names and values, but no tags, anchors, aliases, merge keys or ` +
      'directives.',
    'The page Domains of the dashboard shows the same document, and imports one. An error names its place, such as ' +
      '`domains.redirects[0].to`, and the values that are allowed there; then nothing changes.',
    '## Timeline',
    `For long answers, the page and the timeline show the first ${String(shownAtMost.records)} records, ` +
      `${String(shownAtMost.characters)} characters of each, and how many more there are, the decisive ones first. ` +
      'We evaluate the whole answer, up to ' +
      `${String(largestAnswer.records)} records and ${String(largestAnswer.characters / 1024)} Ki characters. Beyond that the problem is ` +
      '`dns_answer_too_large`.',
    'The page of a domain, and `domain show --json`, have the timeline, newest first: the checks with the answers of each resolver, ' +
      'and the attempts with their results. We keep the newest ' +
      `${String(mostOfKind.checked)} of each for 90 days; once the domain is removed, the newest ${String(mostOfRemoved)}. ` +
      'We always keep the dates when it was added, verified, live, renewed and removed. If you remove a name and add it ' +
      'again, it is a new attachment with its own timeline; to see the earlier one, click its row under ' +
      '"Removed" on the page Domains.',
  );
