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
import { shownPath as shownPathInLog, isDay, isLine, isName } from '../../src/kernel/text.ts';
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
  SiteInspection,
  siteLimits,
} from '../../src/sites/domain/site-contents.ts';
import { isPublic, readDestination } from '../../src/notifications/domain/destination.ts';
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
  /** The characters with a meaning. Each is repeated, alone and with its neighbour. */
  readonly letters: readonly string[];
}

const parser = (letters: string, read: TextParser['read']): TextParser => ({
  letters: letters.split(/(?!\p{M})/u),
  read,
});

/**
 * A letter with only accents after it, in texts of at least 4 000 characters, because ordering accents takes quadratic
 * time.
 */
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

const hostnameParser = parser('/:.@-_*?#[0x\\a', (text) =>
  parseHostname(text, (one) => hostNames.read(one), naming),
);

/** The parsers in each file of src that parses untrusted text. */
export const textFiles: Readonly<Record<string, Readonly<Record<string, TextParser>>>> = {
  'access/domain/api-key.ts': { isWellFormedSecret: parser('pets_0-', isWellFormedSecret) },
  'access/domain/person.ts': { isEmail: parser('a@.-1\t', (text) => isEmail(emailOf(text))) },
  'access/domain/password.ts': {
    passwordText: parser('aﷺ', passwordText),
    accents: accents(passwordText),
    checkPassword: parser('a1é', (text) => {
      checkPassword(text, { email: 'a@b.example', accountName: 'a', commonest: new Set() });
    }),
  },
  'kernel/text.ts': {
    shownPath: parser('%25sign-/shared', shownPathInLog),
    isDay: parser('2027-02-30', isDay),
    isLine: parser('a \t\u0000😀', (text) => isLine(text, 255)),
    isName: parser('a\u202e\u2066', (text) => isName(text, 255)),
  },
  'catalogue/domain/pet.ts': {
    readId: parser('109a', readId),
    searchedName: accents(searchedName),
  },
  'domains/domain/dns/caa.ts': { parseIssueValue: parser(' \t;=.-a,:', parseIssueValue) },
  'domains/domain/names/hostname.ts': {
    cleanName: parser('. a', cleanName),
    parseHostname: hostnameParser,
  },
  'domains/domain/dns/facts.ts': {
    isInNetwork: parser('.:1f/', (text) => isInNetwork(text, '192.0.2.0/24')),
    isUnspecified: parser('.:0', isUnspecified),
  },
  'sites/domain/project.ts': {
    slugOf: parser("a-' \u0315\u0300ﷺ", slugOf),
    isReservedSlug: parser('w0t-a', isReservedSlug),
  },
  'sites/domain/site.ts': { deployMessage: parser('a\n\u202e ', deployMessage) },
  'sites/domain/project-life.ts': { readSlug: parser('a-0 ', readSlug) },
  'domains/domain/redirects/settings.ts': {
    isAbsolute: parser('a:/\\ +.-', isAbsolute),
    absoluteTarget: parser('/\\ .:@?#a%', absoluteTarget),
    redirectTarget: parser('/?a', (text) => redirectTarget('a.example', text, text)),
    checkDomainSettings: parser('a/:. ', (text) =>
      checkDomainSettings({ redirects: [{ from: 'a.example', to: text }] }, { hosts }),
    ),
  },
  'sites/domain/site-contents.ts': {
    folder: parser('/.\\a:\u0315\u0300', (text) => publishedPath(text, true)),
    file: parser('/.\\a:\u0315\u0300', (text) => publishedPath(text, false)),
    shownPath: parser('/\u0000\u202ea', shownPath),
    admit: parser('/._a', (text) => new SiteInspection().admit(text, 'file')),
    accents: accents((text) => new SiteInspection().admit(text, 'folder')),
    'nested files': parser('a', ({ length }) => {
      const inspection = new SiteInspection();
      for (let n = 0; 4 * n < length; n++) {
        inspection.admit(`${'folder/'.repeat(siteLimits.folders)}${n}`, 'file');
      }
    }),
  },
  'notifications/domain/destination.ts': {
    isPublic: parser('.:1f%', isPublic),
    readDestination: parser('/\\ .:@?#a%[0x', (text) =>
      readDestination(text, { allowsThisMachine: false }),
    ),
    named: parser('.a0-', (text) =>
      readDestination(`https://${text}`, { allowsThisMachine: false }),
    ),
  },
  'adapters/acme/acme-answers.ts': {
    AcmeFailure: parser('\u0000 a', (text) => new AcmeFailure('dns', text)),
    failureOf: parser('retry af2-:', (text) =>
      failureOf({ type: text, detail: text, subproblems: [] }, now, text),
    ),
    retryAfter: parser('0Aa, ', (text) => retryAfter(text, now)),
    readDocument: parser('[{"\\ 9', (text) => readDocument('order', text)),
    time: parser('0T:-.Z', (text) =>
      readDocument('renewalInfo', JSON.stringify({ suggestedWindow: { start: text, end: text } })),
    ),
    token: parser('a-_', (text) =>
      readDocument(
        'authorization',
        `{"status":"valid","challenges":[{"type":"","url":"https://a","status":"valid","token":"${text}"}]}`,
      ),
    ),
  },
  'adapters/acme/issued-certificate.ts': {
    issuedCertificate: parser('-a\n ', (text) => issuedCertificate(order, text, now)),
    begins: {
      letters: ['-----BEGIN CERTIFICATE-----', 'a', '-----END CERTIFICATE-----'],
      read: (text) => issuedCertificate(order, text, now),
    },
  },
  'adapters/mail/letter.ts': {
    oneLine: parser('a\r\n\u202e\ud800', (text) => oneLine(text, 300)),
    isolated: parser('a א', isolated),
    wrapped: parser('a \n', (text) => wrapped(oneLine(text, 2000))),
  },
  'adapters/edge/served-file.ts': {
    forms: parser('a0-.A', (text) => new ServedFile({ ...file, path: text.slice(0, 1024) }).forms),
    encodingFor: parser('br, ;q="', (text) => encodingFor(file, text)),
    portionOf: parser('0-=,bytes', (text) => portionOf(9, '"a"', `bytes=${text}`, undefined)),
    isKnown: parser('W/", *', (text) => isKnown('"a"', text)),
    matchPath: parser('/.\\%?a', (text) => matchPath(`/${text}`, () => false)),
    accents: parser('a', (text) =>
      matchPath(`/${'%CC%95%CC%80'.repeat(text.length / 12)}`, () => false),
    ),
  },
  'adapters/mail/smtp-postman.ts': {
    postedBy: parser(' 5\u0007\n', (text) => postedBy({ response: text.slice(0, 100_000) })),
  },
  'adapters/dashboard/frame/html.ts': {
    html: parser('a\u202e\u2066', (text) => html`<p>${text}</p>`),
  },
  'adapters/dashboard/frame/sent-form.ts': {
    URLSearchParams: parser('%=', (text) => new URLSearchParams(text.slice(0, 64 * 1024))),
    readKept: parser('{}[]":,a\\', (text) => readKept({ kept: text.slice(0, 64 * 1024) })),
  },
  'adapters/dashboard/animals/query.ts': {
    readAnimalsQuery: parser('1.Rx', (text) =>
      readAnimalsQuery(new URLSearchParams({ q: text, category: text, after: text })),
    ),
  },
  'adapters/dashboard/animals/csv-drafts.ts': {
    draftsIn: parser('",;\n\r=', (text) => draftsIn(Buffer.from(text))),
  },
  'adapters/dashboard/frame/csv.ts': { withoutApostrophe: parser(`'=+`, withoutApostrophe) },
  'adapters/dashboard/account/audit-log.ts': {
    readAuditFilter: parser('0.a-', (text) =>
      readAuditFilter(new URLSearchParams({ who: text, what: text, from: text, before: text })),
    ),
  },
  'adapters/dashboard/webhooks/deliveries.ts': {
    attemptItem: parser('\u0000\r\u202ea<', (beginning) =>
      attemptItem({ kind: 'answered', status: 200, beginning, tookMs: 1, at: now }, now),
    ),
  },
  'adapters/dashboard/webhooks/settings.ts': {
    webhookDraft: parser('a,. ', (text) =>
      v.safeParse(webhookDraft, { address: text, kinds: text }),
    ),
  },
  'adapters/dashboard/domains/list.ts': {
    askedList: parser('added~b', (text) => askedList('b', new URLSearchParams({ after: text }))),
  },
  'adapters/dashboard/domains/timeline.ts': {
    positionOf: parser('10a', (text) => positionOf(new URLSearchParams({ before: text }))),
  },
  'adapters/dashboard/frame/paths.ts': {
    pageAfterSignIn: parser('/?%=a', (text) => pageAfterSignIn(`next=${text.slice(0, 64 * 1024)}`)),
    signInPathFor: parser('/?a-.=&', (text) => signInPathFor(`/dashboard${text}`)),
  },
  'adapters/dashboard/me/screen.ts': { browserName: parser('EdgA/Mac OX', browserName) },
  'adapters/dashboard/frame/same-origin.ts': {
    isFromOurPage: parser('a:/.', (text) => isFromOurPage(sentFrom(text), 'https://a.example')),
    isFromElsewhere: parser('a:/.pre', (text) =>
      isFromElsewhere(sentFrom(text), 'https://a.example'),
    ),
  },
  // The other texts are bounded: names of 253 characters, tags of 255 bytes, errors cut to 640 bytes.
  'adapters/dns/wire-questions.ts': { parseServer: parser('[]:1.a', parseServer) },
  'domains/domain/dns/route.ts': {
    judgeOwnership: parser(' "a', (text) =>
      judgeOwnership({ resolver: 'a', txt: txt(text) }, { host: 'a.example', token: 'a' }),
    ),
  },
  'adapters/edge/request-host.ts': {
    hostNamed: parser('a.-:0', hostNamed),
    portNamed: parser(':0', portNamed),
    requestTargetOf: parser('/?#:a', (text) => requestTargetOf(`http://${text}`, 'a.example')),
  },
  'adapters/http/listener/broken-requests.ts': {
    firstLineOf: parser('A /?', (text) =>
      firstLineOf(Object.assign(new Error('broken'), { rawPacket: Buffer.from(text) })),
    ),
  },
  'adapters/http/listener/client-address.ts': {
    clientAddress: parser(',: .1', (text) => clientAddress('192.0.2.1', text, 1)),
    addressBucket: parser(':.1', (text) => addressBucket(text.slice(0, 1024))),
  },
  'adapters/http/operations/cursors.ts': {
    decode: parser('0a.-', (text) => cursors.decode(cursorScope, text)),
  },
  // Also parses the query of a request, and a Content-Type of at most 512 characters.
  'adapters/http/operations/request-input.ts': {
    parseExactJson: parser('9[{".-\\ e', (text) => parseExactJson(text.slice(0, largestBody))),
    number: parser('9', (text) => parseExactJson(`{"a":${text}}`)),
  },
  'adapters/http/request-lifecycle.ts': { requestTarget: parser('/?#:.', requestTarget) },
  'adapters/http/operations/operation-route.ts': {
    requireJsonAccepted: parser('",;a/*', (text) => {
      requireJsonAccepted({ accept: text });
    }),
  },
  'adapters/storage/smaller-forms.ts': {
    isCompressible: parser('a./', (text) => isCompressible(text.slice(0, 1024))),
  },
  'adapters/system/tldts-host-names.ts': {
    read: parser('a.-[]xn:0ü\u0315\u0300ﷺ', (text) => hostNames.read(text)),
  },
  'app/domain-settings/plain-yaml.ts': {
    readDomainSettings: parser('![]{}&*-:?|>#"\'% a\n\t\\', readDomainSettings),
  },
};

/** Other files that parse text get no long untrusted text. A path that ends in a slash stands for a folder. */
export const trustingFiles: Readonly<Record<string, readonly string[]>> = {
  'It reads only what we wrote ourselves': [
    'app/failure-words.ts',
    'domains/domain/attachment/domain-certificate.ts',
    'domains/domain/redirects/redirects.ts',
    'adapters/acme/acme-session.ts',
    'adapters/acme/x509.ts',
    'adapters/dashboard/dashboard.ts',
    'adapters/dashboard/frame/responses.ts',
    'adapters/dashboard/help/screen.ts',
    'adapters/dashboard/domains/progress.ts',
    'adapters/dashboard/frame/live-viewer.ts',
    'adapters/dashboard/me/second-factor.ts',
    'adapters/system/system-ports.ts',
    'adapters/dashboard/projects/settings-screen.ts',
    'adapters/dashboard/projects/project-head.ts',
    'adapters/dashboard/home/projects-screen.ts',
    'adapters/dashboard/frame/screen.ts',
    'adapters/dns/node-dns-verifier.ts',
    'adapters/storage/s3/s3-store.ts',
    'adapters/acme/local-certificate-authority.ts',
    'notifications/use-cases/mail.ts',
    'adapters/http/reference/written-reference.ts',
    'adapters/http/reference/markdown.ts',
    'adapters/memory/memory-quota-counters.ts',
    'adapters/kysely/',
    'adapters/storage/manifest.ts',
    'adapters/system/secrets.ts',
    'app/backup/',
    'app/doctor/',
    'app/log.ts',
    'app/settings/settings.ts',
    'app/domain-settings/text.ts',
    'app/version.ts',
    'app/wiring/sites.ts',
  ],
  'It reads only what the operator of the service wrote': [
    'adapters/http/reference/reference-routes.ts',
    'adapters/acme/acme-certificate-authority.ts',
    'adapters/dashboard/sign-in/passkey-form.ts',
    'adapters/dashboard/usage/keys.ts',
    'adapters/edge/platform-files.ts',
    'app/wiring/notifications.ts',
    'adapters/http/reference/openapi.ts',
    'app/wiring/authorities.ts',
    'adapters/redis/redis-address.ts',
    'app/settings/addresses.ts',
    'app/commands/',
    'app/settings/config.ts',
    'app/settings/warnings.ts',
    'app/introduce.ts',
    'app/settings/start-warnings.ts',
    'app/settings/setting-schemas.ts',
    'app/settings/faults.ts',
  ],
  'Its patterns match a limited number of characters': [
    'catalogue/catalogue.ts',
    'adapters/dns/resolver-questions.ts',
    'app/settings/redaction.ts',
    'adapters/webhooks/guarded-outside.ts',
    'access/use-cases/sign-in-attempts.ts',
    'adapters/acme/acme-transport.ts',
    'adapters/dashboard/webhooks/webhooks-screens.ts',
    'adapters/dashboard/domains/several.ts',
    'adapters/dashboard/keys/new-key.ts',
    'adapters/dashboard/projects/deploy-screen.ts',
    'adapters/dashboard/projects/project-screen.ts',
    'adapters/dashboard/domains/redirects.ts',
    'adapters/nameserver/zone.ts',
    'adapters/tracing/otel-tracer.ts',
    'adapters/http/operations/schemas.ts',
  ],
  'It reads only a form of 64 KiB, by patterns that are linear': [
    'access/use-cases/second-factor.ts',
    'adapters/passkeys/web-authn-passkeys.ts',
  ],
  'It reads only a header or an address, of 64 KiB at most, by patterns that are linear': [
    'adapters/dashboard/sign-in/sign-in-page.ts',
    'adapters/dashboard/screen-routes.ts',
    'adapters/dashboard/frame/list-parts.ts',
    'adapters/nameserver/limits.ts',
    'adapters/edge/edge-handler.ts',
    'adapters/http/rate-limits.ts',
    'adapters/http/request-handler.ts',
    'adapters/http/operations/deploy-operations.ts',
    'adapters/dashboard/notices/mail.ts',
    'adapters/dashboard/notices/screen.ts',
    'app/wiring/web.ts',
  ],
};
