import * as v from 'valibot';
import { emailOf, isEmail } from '../../src/access/domain/person.ts';
import { isWellFormedSecret } from '../../src/access/domain/api-key.ts';
import { checkPassword, passwordText } from '../../src/access/domain/password.ts';
import {
  readDocument,
  AcmeFailure,
  failureOf,
  retryAfter,
} from '../../src/adapters/acme/acme-answers.ts';
import { issuedCertificate } from '../../src/adapters/acme/issued-certificate.ts';
import { readId, searchedName } from '../../src/catalogue/domain/pet.ts';
import { draftsIn } from '../../src/adapters/dashboard/animals/csv-drafts.ts';
import { readAnimalsQuery } from '../../src/adapters/dashboard/animals/query.ts';
import { withoutApostrophe } from '../../src/adapters/dashboard/frame/csv.ts';
import { readAuditFilter } from '../../src/adapters/dashboard/account/audit-log.ts';
import { askedList } from '../../src/adapters/dashboard/domains/list.ts';
import { positionOf } from '../../src/adapters/dashboard/domains/timeline.ts';
import { html } from '../../src/adapters/dashboard/frame/html.ts';
import { readKept } from '../../src/adapters/dashboard/frame/sent-form.ts';
import { attemptItem } from '../../src/adapters/dashboard/webhooks/deliveries.ts';
import { webhookDraft } from '../../src/adapters/dashboard/webhooks/settings.ts';
import { pageAfterSignIn, signInPathFor } from '../../src/adapters/dashboard/frame/paths.ts';
import { browserName } from '../../src/adapters/dashboard/me/screen.ts';
import { isFromElsewhere, isFromOurPage } from '../../src/adapters/dashboard/frame/same-origin.ts';
import { parseServer } from '../../src/adapters/dns/wire-questions.ts';
import { postedBy } from '../../src/adapters/mail/smtp-postman.ts';
import { isolated, oneLine, wrapped } from '../../src/adapters/mail/letter.ts';
import {
  encodingFor,
  isKnown,
  matchPath,
  portionOf,
  ServedFile,
} from '../../src/adapters/edge/served-file.ts';
import { addressBucket, clientAddress } from '../../src/adapters/http/listener/client-address.ts';
import { Cursors } from '../../src/adapters/http/operations/cursors.ts';
import { largestBody, parseExactJson } from '../../src/adapters/http/operations/request-input.ts';
import { requestTarget } from '../../src/adapters/http/request-lifecycle.ts';
import { firstLineOf } from '../../src/adapters/http/listener/broken-requests.ts';
import { requireJsonAccepted } from '../../src/adapters/http/operations/operation-route.ts';
import { isCompressible } from '../../src/adapters/storage/smaller-forms.ts';
import { TldtsHostNames } from '../../src/adapters/system/tldts-host-names.ts';
import { readDomainSettings } from '../../src/app/domain-settings/text.ts';
import { shownPath as shownPathInLog, isLine, isName } from '../../src/kernel/text.ts';
import { parseIssueValue } from '../../src/domains/domain/dns/caa.ts';
import { judgeOwnership } from '../../src/domains/domain/dns/route.ts';
import { cleanName, parseHostname } from '../../src/domains/domain/names/hostname.ts';
import { isInNetwork, isUnspecified } from '../../src/domains/domain/dns/facts.ts';
import { deployMessage } from '../../src/sites/domain/site.ts';
import { slugOf, isReservedSlug } from '../../src/sites/domain/project.ts';
import { readSlug } from '../../src/sites/domain/project-life.ts';
import {
  publishedPath,
  shownPath,
  inspectSite,
  siteLimits,
} from '../../src/sites/domain/site-contents.ts';
import { readDestination, specialUse } from '../../src/notifications/domain/destination.ts';
import {
  absoluteTarget,
  isAbsolute,
  redirectTarget,
} from '../../src/domains/domain/redirects/settings.ts';
import { checkDomainSettings } from '../../src/domains/domain/redirects/redirects.ts';
import { hostNamed, portNamed, requestTargetOf } from '../../src/adapters/edge/request-host.ts';

/** Reads an untrusted text. It may throw. */
export interface TextParser {
  readonly read: (text: string) => unknown;
  /** The characters with a meaning; each is repeated, alone and with its neighbour. */
  readonly letters: readonly string[];
}

/** A file of src that parses text. */
export type TextFile =
  | {
      /** Its number of patterns and parsing calls: a new one may need a new parser here. */
      readonly operations: number;
      readonly parsers: Readonly<Record<string, TextParser>>;
    }
  /** Why it gets no long untrusted text. */
  | string;

const parser = (letters: string, read: TextParser['read']): TextParser => ({
  letters: letters.split(/(?!\p{M})/u),
  read,
});

/** One letter with nothing but accents on it, in texts of 4 000 characters and more: putting accents in order takes the square. */
const accents = (read: TextParser['read']): TextParser => ({
  letters: ['\u0315\u0300'],
  read: (text) => read(text.repeat(8)),
});

const now = new Date('2026-11-22T00:00:00Z');
const file = { path: 'a.html', bytes: 9, hash: 'a', brotli: 3, gzip: 4 };
const order = { host: 'a.example', privateKey: '' } as Parameters<typeof issuedCertificate>[0];
const cursors = new Cursors([new Uint8Array(32)]);
const cursorScope = { list: 'pets', accountId: 'a', filter: '' } as const;
const hostNames = new TldtsHostNames();
const naming = { platformHost: 'sites.test', acmeDnsZone: 'acme.test', allowTestDomains: false };
const liveSince = new Date(0);
const hosts = [{ host: 'a.example', unicodeHost: 'a.example', isServed: true, liveSince }];
const txt = (text: string) => ({ kind: 'records', records: [text], ttl: 1 }) as const;
const sentFrom = (from: string) => ({
  get: (name: string) => (['Origin', 'Referer', 'Purpose'].includes(name) ? from : ''),
  host: 'a.example',
});

const ours = 'It reads only what we wrote ourselves: ';
const operator = 'It reads only what the operator of the service wrote: ';
const short =
  'It reads only a header or an address, of 64 KiB at most, by patterns that are linear: ';
const form = 'It reads only a form of 64 KiB, by patterns that are linear: ';
const shapes = 'Its patterns have an end after some characters: ';

const hostnameParser = parser('/:.@-_*?#[0x\\a', (text) =>
  parseHostname(text, (one) => hostNames.read(one), naming),
);

/** Each file of src that parses text. A path that ends in a slash stands for all files of that folder. */
export const textFiles: Readonly<Record<string, TextFile>> = {
  'access/domain/api-key.ts': {
    operations: 1,
    parsers: { isWellFormedSecret: parser('pets_0-', isWellFormedSecret) },
  },
  'access/domain/person.ts': {
    operations: 2,
    parsers: { isEmail: parser('a@.-1\t', (text) => isEmail(emailOf(text))) },
  },
  'access/domain/password.ts': {
    operations: 3,
    parsers: {
      passwordText: parser('aﷺ', passwordText),
      accents: accents(passwordText),
      checkPassword: parser('a1é', (text) => {
        checkPassword(text, { email: 'a@b.example', accountName: 'a', commonest: new Set() });
      }),
    },
  },
  'kernel/text.ts': {
    operations: 6,
    parsers: {
      shownPath: parser('%25sign-/shared', shownPathInLog),
      isLine: parser('a \t\u0000😀', (text) => isLine(text, 255)),
      isName: parser('a\u202e\u2066', (text) => isName(text, 255)),
    },
  },
  'catalogue/domain/pet.ts': {
    operations: 4,
    parsers: { readId: parser('109a', readId), searchedName: accents(searchedName) },
  },
  'catalogue/catalogue.ts': 'It looks for ids only, by `readId`.',
  'domains/domain/dns/caa.ts': {
    operations: 6,
    parsers: { parseIssueValue: parser(' \t;=.-a,:', parseIssueValue) },
  },
  'domains/domain/names/hostname.ts': {
    operations: 17,
    parsers: { cleanName: parser('. a', cleanName), parseHostname: hostnameParser },
  },
  'domains/domain/dns/facts.ts': {
    operations: 3,
    parsers: {
      isInNetwork: parser('.:1f/', (text) => isInNetwork(text, '192.0.2.0/24')),
      isUnspecified: parser('.:0', isUnspecified),
    },
  },
  'domains/domain/attachment/domain-certificate.ts': `${ours}the subjects of orders.`,
  'sites/domain/project.ts': {
    operations: 6,
    parsers: {
      slugOf: parser("a-' \u0315\u0300ﷺ", slugOf),
      isReservedSlug: parser('w0t-a', isReservedSlug),
    },
  },
  'sites/domain/site.ts': {
    operations: 3,
    parsers: { deployMessage: parser('a\n\u202e ', deployMessage) },
  },
  'sites/domain/project-life.ts': {
    operations: 1,
    parsers: { readSlug: parser('a-0 ', readSlug) },
  },
  'domains/domain/redirects/redirects.ts': `${ours}addresses of redirects that were admitted.`,
  'domains/domain/redirects/settings.ts': {
    operations: 9,
    parsers: {
      isAbsolute: parser('a:/\\ +.-', isAbsolute),
      absoluteTarget: parser('/\\ .:@?#a%', absoluteTarget),
      redirectTarget: parser('/?a', (text) => redirectTarget('a.example', text, text)),
      checkDomainSettings: parser('a/:. ', (text) =>
        checkDomainSettings({ redirects: [{ from: 'a.example', to: text }] }, { hosts }),
      ),
    },
  },
  'sites/domain/site-contents.ts': {
    operations: 7,
    parsers: {
      folder: parser('/.\\a:\u0315\u0300', (text) => publishedPath(text, true)),
      file: parser('/.\\a:\u0315\u0300', (text) => publishedPath(text, false)),
      shownPath: parser('/\u0000\u202ea', shownPath),
      admit: parser('/._a', (text) => inspectSite().admit(text, 'file')),
      accents: accents((text) => inspectSite().admit(text, 'folder')),
      'nested files': parser('a', ({ length }) => {
        const inspection = inspectSite();
        for (let n = 0; 4 * n < length; n++) {
          inspection.admit(`${'folder/'.repeat(siteLimits.folders)}${n}`, 'file');
        }
      }),
    },
  },

  'notifications/domain/destination.ts': {
    operations: 10,
    parsers: {
      specialUse: parser('.:1f%', specialUse),
      readDestination: parser('/\\ .:@?#a%[0x', (text) =>
        readDestination(text, { allowsThisMachine: false }),
      ),
      named: parser('.a0-', (text) =>
        readDestination(`https://${text}`, { allowsThisMachine: false }),
      ),
    },
  },
  'adapters/http/reference/reference-routes.ts': `${operator}PUBLIC_URL.`,
  'adapters/webhooks/guarded-outside.ts': `${shapes}an address is read by readDestination first; codes of errors are ours.`,

  'access/use-cases/second-factor.ts': `${form}codes; challenges are what it sealed itself.`,
  'access/use-cases/sign-in-attempts.ts': `${shapes}the length of a token is asked first.`,

  'adapters/acme/acme-certificate-authority.ts': `${operator}the address of the authority and its directory; of the message of a problem, which has 256 KiB at most, one word.`,
  'adapters/acme/acme-answers.ts': {
    operations: 6,
    parsers: {
      AcmeFailure: parser('\u0000 a', (text) => new AcmeFailure('dns', text)),
      failureOf: parser('retry af2-:', (text) =>
        failureOf({ type: text, detail: text, subproblems: [] }, now, text),
      ),
      retryAfter: parser('0Aa, ', (text) => retryAfter(text, now)),
      readDocument: parser('[{"\\ 9', (text) => readDocument('order', text)),
      time: parser('0T:-.Z', (text) =>
        readDocument(
          'renewalInfo',
          JSON.stringify({ suggestedWindow: { start: text, end: text } }),
        ),
      ),
      token: parser('a-_', (text) =>
        readDocument(
          'authorization',
          `{"status":"valid","challenges":[{"type":"","url":"https://a","status":"valid","token":"${text}"}]}`,
        ),
      ),
    },
  },
  'adapters/acme/acme-session.ts': `${ours}the addresses of the directory, of 256 KiB at most, are read by URL alone.`,
  'adapters/acme/acme-transport.ts': `${shapes}nonces.`,
  'adapters/acme/issued-certificate.ts': {
    operations: 3,
    parsers: {
      issuedCertificate: parser('-a\n ', (text) => issuedCertificate(order, text, now)),
      begins: {
        letters: ['-----BEGIN CERTIFICATE-----', 'a', '-----END CERTIFICATE-----'],
        read: (text) => issuedCertificate(order, text, now),
      },
    },
  },
  'adapters/acme/x509.ts': `${ours}the serial number of a certificate that was parsed.`,

  'adapters/mail/letter.ts': {
    operations: 4,
    parsers: {
      oneLine: parser('a\r\n\u202e\ud800', (text) => oneLine(text, 300)),
      isolated: parser('a א', isolated),
      wrapped: parser('a \n', (text) => wrapped(oneLine(text, 2000))),
    },
  },
  'adapters/edge/served-file.ts': {
    operations: 7,
    parsers: {
      forms: parser(
        'a0-.A',
        (text) => new ServedFile({ ...file, path: text.slice(0, 1024) }).forms,
      ),
      encodingFor: parser('br, ;q="', (text) => encodingFor(file, text)),
      portionOf: parser('0-=,bytes', (text) => portionOf(9, '"a"', `bytes=${text}`, undefined)),
      isKnown: parser('W/", *', (text) => isKnown('"a"', text)),
      matchPath: parser('/.\\%?a', (text) => matchPath(`/${text}`, () => false)),
      accents: parser('a', (text) =>
        matchPath(`/${'%CC%95%CC%80'.repeat(text.length / 12)}`, () => false),
      ),
    },
  },
  'adapters/mail/smtp-postman.ts': {
    operations: 5,
    parsers: {
      postedBy: parser(' 5\u0007\n', (text) => postedBy({ response: text.slice(0, 100_000) })),
    },
  },
  'adapters/dashboard/frame/html.ts': {
    operations: 1,
    parsers: { html: parser('a\u202e\u2066', (text) => html`<p>${text}</p>`) },
  },
  'adapters/dashboard/dashboard.ts': `${ours}paths of pages.`,
  'adapters/dashboard/frame/sent-form.ts': {
    operations: 6,
    parsers: {
      URLSearchParams: parser('%=', (text) => new URLSearchParams(text.slice(0, 64 * 1024))),
      readKept: parser('{}[]":,a\\', (text) => readKept({ kept: text.slice(0, 64 * 1024) })),
    },
  },
  'adapters/dashboard/frame/responses.ts': `${ours}paths of pages, and names of assets.`,
  'adapters/dashboard/animals/query.ts': {
    operations: 1,
    parsers: {
      readAnimalsQuery: parser('1.Rx', (text) =>
        readAnimalsQuery(new URLSearchParams({ q: text, category: text, after: text })),
      ),
    },
  },
  'adapters/dashboard/animals/csv-drafts.ts': {
    operations: 2,
    parsers: { draftsIn: parser('",;\n\r=', (text) => draftsIn(Buffer.from(text))) },
  },
  'adapters/dashboard/frame/csv.ts': {
    operations: 1,
    parsers: { withoutApostrophe: parser(`'=+`, withoutApostrophe) },
  },
  'adapters/dashboard/account/audit-log.ts': {
    operations: 2,
    parsers: {
      readAuditFilter: parser('0.a-', (text) =>
        readAuditFilter(new URLSearchParams({ who: text, what: text, from: text, before: text })),
      ),
    },
  },
  'adapters/dashboard/webhooks/deliveries.ts': {
    operations: 2,
    parsers: {
      attemptItem: parser('\u0000\r\u202ea<', (beginning) =>
        attemptItem({ kind: 'answered', status: 200, beginning, tookMs: 1, at: now }, now),
      ),
    },
  },
  'adapters/dashboard/webhooks/settings.ts': {
    operations: 2,
    parsers: {
      webhookDraft: parser('a,. ', (text) =>
        v.safeParse(webhookDraft, { address: text, kinds: text }),
      ),
    },
  },
  'adapters/dashboard/webhooks/webhook-screen.ts': `${shapes}the id of a delivery in the query.`,
  'adapters/dashboard/domains/list.ts': {
    operations: 1,
    parsers: {
      askedList: parser('added~b', (text) => askedList('b', new URLSearchParams({ after: text }))),
    },
  },
  'adapters/dashboard/domains/timeline.ts': {
    operations: 2,
    parsers: {
      positionOf: parser('10a', (text) => positionOf(new URLSearchParams({ before: text }))),
    },
  },
  'adapters/dashboard/domains/several.ts': `${shapes}ids of rows that were ticked, which are split at commas in a form of 64 KiB.`,
  'adapters/dashboard/help/screen.ts': `${ours}the pages of docs/.`,
  'adapters/dashboard/domains/progress.ts': `${ours}titles of problems.`,
  'adapters/dashboard/keys/new-key.ts': `${shapes}the day that a key expires; scopes are split at commas in a form of 64 KiB.`,
  'adapters/dashboard/frame/form-parts.ts': `${shapes}what was ticked, which is split at commas in a form of 64 KiB.`,
  'adapters/dashboard/frame/live-viewer.ts': `${ours}pages, in which all that others wrote is escaped.`,
  'adapters/dashboard/frame/paths.ts': {
    operations: 4,
    parsers: {
      pageAfterSignIn: parser('/?%=a', (text) =>
        pageAfterSignIn(`next=${text.slice(0, 64 * 1024)}`),
      ),
      signInPathFor: parser('/?a-.=&', (text) => signInPathFor(`/dashboard${text}`)),
    },
  },
  'adapters/dashboard/me/second-factor.ts': `${ours}secrets of 32 letters.`,
  'adapters/dashboard/sign-in/passkey-form.ts': `${operator}the address of the dashboard.`,
  'adapters/passkeys/web-authn-passkeys.ts': `${form}what a browser says of a passkey, as JSON.`,
  'adapters/system/time-code.ts': `${ours}secrets of 32 letters.`,
  'adapters/dashboard/me/screen.ts': {
    operations: 13,
    parsers: { browserName: parser('EdgA/Mac OX', browserName) },
  },
  'adapters/dashboard/projects/deploy-screen.ts': `${shapes}the number of a deploy.`,
  'adapters/dashboard/projects/settings-screen.ts': `${ours}the address of a site.`,
  'adapters/dashboard/projects/project-screen.ts': `${shapes}the number of a deploy, and addresses of sites, which we wrote.`,
  'adapters/dashboard/projects/project-head.ts': `${ours}the address of a site.`,
  'adapters/dashboard/home/projects-screen.ts': `${ours}addresses of sites.`,
  'adapters/dashboard/domains/redirects.ts': `${shapes}the status of a redirect.`,
  'adapters/dashboard/frame/same-origin.ts': {
    operations: 2,
    parsers: {
      isFromOurPage: parser('a:/.', (text) => isFromOurPage(sentFrom(text), 'https://a.example')),
      isFromElsewhere: parser('a:/.pre', (text) =>
        isFromElsewhere(sentFrom(text), 'https://a.example'),
      ),
    },
  },
  'adapters/dashboard/screen-routes.ts': `${short}its query.`,
  'adapters/dashboard/frame/screen.ts': `${ours}paths of pages.`,
  'adapters/dashboard/usage/keys.ts': `${operator}the address of the API.`,

  'adapters/dns/wire-questions.ts': {
    // The others have an end: names of 253 characters, tags of 255 bytes, errors that are cut to 640 bytes.
    operations: 5,
    parsers: { parseServer: parser('[]:1.a', parseServer) },
  },
  'adapters/dns/node-dns-verifier.ts': `${ours}names of domains that were admitted.`,
  'adapters/dns/resolver-questions.ts':
    'Names in DNS have 255 bytes; only the last dot is looked for.',
  'domains/domain/dns/route.ts': {
    operations: 0,
    parsers: {
      judgeOwnership: parser(' "a', (text) =>
        judgeOwnership({ resolver: 'a', txt: txt(text) }, { host: 'a.example', token: 'a' }),
      ),
    },
  },

  'adapters/edge/platform-files.ts': `${operator}the certificate of the platform.`,
  'adapters/storage/s3/s3-client.ts': `${ours}names of commands.`,
  'adapters/nameserver/limits.ts': `${short}the address that the system tells of an asker.`,
  'adapters/acme/local-certificate-authority.ts': `${ours}the root, which it sealed.`,
  'adapters/nameserver/zone.ts': `${shapes}the zone, and the labels of a name, which has at most 255 bytes.`,
  'adapters/edge/edge-handler.ts': `${short}the path of a request, and tokens of challenges.`,
  'adapters/edge/request-host.ts': {
    operations: 3,
    parsers: {
      hostNamed: parser('a.-:0', hostNamed),
      portNamed: parser(':0', portNamed),
      requestTargetOf: parser('/?#:a', (text) => requestTargetOf(`http://${text}`, 'a.example')),
    },
  },

  'adapters/mail/smtp-server.ts': `${operator}SMTP_URL.`,
  'app/wiring/notifications.ts': `${operator}SMTP_URL.`,
  'notifications/use-cases/mail.ts': `${ours}what is sealed in a token, once it is open.`,

  'adapters/http/reference/written-reference.ts': `${ours}the OpenAPI document.`,
  'adapters/http/reference/openapi.ts': `${operator}the address of the API.`,
  'adapters/http/reference/markdown.ts': `${ours}the OpenAPI document.`,
  'app/wiring/authorities.ts': `${operator}the address of the authority.`,
  'adapters/tracing/otel-tracer.ts': `${shapes}codes of errors.`,
  'adapters/http/listener/broken-requests.ts': {
    operations: 5,
    parsers: {
      firstLineOf: parser('A /?', (text) =>
        firstLineOf(Object.assign(new Error('broken'), { rawPacket: Buffer.from(text) })),
      ),
    },
  },
  'adapters/http/listener/client-address.ts': {
    operations: 2,
    parsers: {
      clientAddress: parser(',: .1', (text) => clientAddress('192.0.2.1', text, 1)),
      addressBucket: parser(':.1', (text) => addressBucket(text.slice(0, 1024))),
    },
  },
  'adapters/http/operations/cursors.ts': {
    operations: 2,
    parsers: { decode: parser('0a.-', (text) => cursors.decode(cursorScope, text)) },
  },
  // Besides, it looks into the query of a request, and a Content-Type of 512 characters, and no longer one.
  'adapters/http/operations/request-input.ts': {
    operations: 8,
    parsers: {
      parseExactJson: parser('9[{".-\\ e', (text) => parseExactJson(text.slice(0, largestBody))),
      number: parser('9', (text) => parseExactJson(`{"a":${text}}`)),
    },
  },
  'adapters/http/rate-limits.ts': `${short}Authorization.`,
  'adapters/http/request-lifecycle.ts': {
    operations: 1,
    parsers: { requestTarget: parser('/?#:.', requestTarget) },
  },
  'adapters/http/request-handler.ts': `${short}the path of a request, whose parameters have no slash.`,
  'adapters/http/operations/schemas.ts': `${shapes}the length of a page.`,
  'adapters/http/operations/deploy-operations.ts': `${short}Content-Type; it also reads answers that we stored.`,
  'adapters/http/operations/operation-route.ts': {
    operations: 1,
    parsers: {
      requireJsonAccepted: parser('",;a/*', (text) => {
        requireJsonAccepted({ accept: text });
      }),
    },
  },

  'adapters/dashboard/notices/mail.ts': `${short}its query.`,
  'adapters/dashboard/notices/screen.ts': `${short}the place of a notice, of 18 digits at most.`,
  'adapters/memory/memory-quota-counters.ts': `${ours}names of counters.`,
  'adapters/kysely/': `${ours}rows of the database.`,
  'adapters/redis/redis-address.ts': `${operator}REDIS_URL.`,
  'adapters/storage/manifest.ts': `${ours}the list of the files of a deploy.`,
  'adapters/storage/smaller-forms.ts': {
    operations: 1,
    parsers: { isCompressible: parser('a./', (text) => isCompressible(text.slice(0, 1024))) },
  },
  'adapters/system/secrets.ts': `${ours}hashes of passwords.`,
  'adapters/system/tldts-host-names.ts': {
    operations: 2,
    parsers: {
      read: parser('a.-[]xn:0ü\u0315\u0300ﷺ', (text) => hostNames.read(text)),
    },
  },

  'app/settings/addresses.ts': `${operator}the addresses of the service.`,
  'app/backup/': `${ours}names of files and hashes of a backup.`,
  'app/commands/': `${operator}arguments of commands.`,
  'app/settings/config.ts': `${operator}the settings.`,
  'app/settings/warnings.ts': `${operator}the settings.`,
  'app/doctor/': `${ours}answers of our own servers; of others, addresses and dates by the parsers of Node and ipaddr.js.`,
  'app/failure-words.ts': `${ours}codes of errors, and ${operator.charAt(0).toLowerCase()}${operator.slice(1)}settings.`,
  'app/log.ts': `${ours}errors, as JSON that was just written.`,
  'app/settings/redaction.ts':
    'It reads messages of errors, by patterns that have an end after 500 characters.',
  'app/introduce.ts': `${operator}the addresses of the service.`,
  'app/settings/start-warnings.ts': `${operator}the settings.`,
  'app/settings/settings.ts': `${ours}names of settings.`,
  'app/settings/setting-schemas.ts': `${operator}the settings.`,
  'app/settings/faults.ts': `${operator}the settings.`,
  'app/domain-settings/text.ts': `${ours}keys that were cut to 100 characters.`,
  'app/domain-settings/plain-yaml.ts': {
    operations: 1,
    parsers: { readDomainSettings: parser('![]{}&*-:?|>#"\'% a\n\t\\', readDomainSettings) },
  },
  'app/version.ts': `${ours}package.json and .git.`,
  'app/domain-settings/settings-reader.ts': `${ours}the place of the program for its thread.`,
  'app/wiring/sites.ts': `${ours}the place of the program for its threads.`,
  'app/wiring/web.ts': `${short}the path of a request, and Accept.`,
};
