import * as v from 'valibot';
import { plain, secret, type SettingTable } from './setting.ts';
import { hasNoUser, isSchedule, isServer, list, urlLike } from './setting-schemas.ts';

const directory = v.pipe(
  v.string(),
  v.check(
    (text) => urlLike(text, ['https:']) && hasNoUser(text),
    'must be an https URL without user and password',
  ),
);

const email = v.pipe(v.string(), v.email('must be an email address'));

const bindingKey = v.pipe(
  v.string(),
  v.regex(
    /^[A-Za-z0-9_-]+=*$/,
    'must be the base64url key that the certificate authority gave you',
  ),
);

const issuers = v.pipe(
  v.string(),
  v.toLowerCase(),
  v.transform(list),
  v.check(
    (names) => names.length > 0 && names.every((name) => /^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(name)),
    'must be the name of the certificate authority in CAA records, like letsencrypt.org',
  ),
);

/** How custom domains are checked and certified. */
export const certificatesSettings = {
  DNS_SERVERS: plain(
    v.pipe(
      v.string(),
      v.transform(list),
      v.check(
        (servers) => servers.length > 0 && servers.every(isServer),
        'must be a list of addresses like 1.1.1.1 or 127.0.0.1:5353 or [2620:fe::fe]:53',
      ),
    ),
    '1.1.1.1,8.8.8.8,9.9.9.9',
    'resolvers for [custom domains](#custom-domains), each asked separately, and for [webhooks](webhooks.md): `ip`, `ip:port` or `[ipv6]:port`, comma-separated',
  ),
  ACME_DIRECTORY_URL: plain(
    directory,
    undefined,
    'https URL of the ACME directory of your certificate authority. Not set: the [local authority](#local-certificate-authority)',
  ),
  ACME_EMAIL: plain(email, undefined, 'contact address for the certificate authority'),
  ACME_EAB_KID: plain(
    v.string(),
    undefined,
    'key id for external account binding, if your authority requires it; see [the account](#the-account-at-the-authority)',
  ),
  ACME_EAB_HMAC: secret(
    bindingKey,
    'key for external account binding, base64url; set both or neither',
  ),
  ACME_PROFILE: plain(
    v.pipe(
      v.string(),
      v.regex(/^[\w.~-]{1,64}$/, 'must be the name of a profile of the authority'),
    ),
    undefined,
    "kind of certificate to ask for, such as `shortlived` or `tlsserver` at Let's Encrypt; see [profiles](#profiles)",
  ),
  CAA_ISSUER: plain(
    issuers,
    'letsencrypt.org',
    'name of the certificate authority in CAA records; several names comma-separated',
  ),
  ACME_FALLBACK_DIRECTORY_URL: plain(
    directory,
    undefined,
    'https URL of the directory of [a second authority](#a-second-authority), which is asked when the first one does not answer, or CAA forbids it',
  ),
  ACME_FALLBACK_EMAIL: plain(email, undefined, 'contact address for the second authority'),
  ACME_FALLBACK_EAB_KID: plain(
    v.string(),
    undefined,
    'key id for external account binding at the second authority',
  ),
  ACME_FALLBACK_EAB_HMAC: secret(
    bindingKey,
    'key for external account binding at the second authority, base64url; set both or neither',
  ),
  CAA_FALLBACK_ISSUER: plain(
    issuers,
    undefined,
    'name of the second authority in CAA records; required with `ACME_FALLBACK_DIRECTORY_URL`',
  ),
  VERIFIER_SCHEDULE: plain(
    v.pipe(v.string(), v.check(isSchedule, 'must be a cron expression like */5 * * * * *')),
    '*/5 * * * * *',
    'how often we look for custom domains that are due: a cron expression with seconds',
  ),
} satisfies SettingTable;
