import { when } from './config-safety.ts';
import type { Given } from './settings.ts';

/** A certificate authority that speaks ACME, and our account there. */
export interface AcmeConfig {
  readonly directoryUrl: string;
  readonly email: string | undefined;
  readonly eab: { readonly kid: string; readonly hmac: string } | undefined;
  readonly issuers: readonly string[];
  /** Which kind of certificate to ask for. */
  readonly profile: string | undefined;
}

export type AuthoritySetting =
  | ('acmeDirectoryUrl' | 'acmeEmail' | 'acmeEabKid' | 'acmeEabHmac' | 'acmeProfile' | 'caaIssuer')
  | ('acmeFallbackDirectoryUrl' | 'acmeFallbackEmail' | 'acmeFallbackEabKid')
  | ('acmeFallbackEabHmac' | 'caaFallbackIssuer');

type GivenAuthorities = Pick<Given, AuthoritySetting>;

/** @returns undefined where certificates come from a local authority, for development */
export const preferredAuthority = (given: GivenAuthorities): AcmeConfig | undefined =>
  given.acmeDirectoryUrl === undefined
    ? undefined
    : {
        directoryUrl: given.acmeDirectoryUrl,
        email: given.acmeEmail,
        eab: bindingOf(given.acmeEabKid, given.acmeEabHmac),
        issuers: given.caaIssuer,
        profile: given.acmeProfile,
      };

/** Profiles have other names there. */
export const fallbackAuthority = (given: GivenAuthorities): AcmeConfig | undefined =>
  given.acmeFallbackDirectoryUrl === undefined
    ? undefined
    : {
        directoryUrl: given.acmeFallbackDirectoryUrl,
        email: given.acmeFallbackEmail,
        eab: bindingOf(given.acmeFallbackEabKid, given.acmeFallbackEabHmac),
        issuers: given.caaFallbackIssuer ?? [],
        profile: undefined,
      };

const bindingOf = (kid: string | undefined, hmac: string | undefined): AcmeConfig['eab'] =>
  kid === undefined || hmac === undefined ? undefined : { kid, hmac };

const directory = 'ACME_FALLBACK_DIRECTORY_URL';
const ofFallback = [
  ...['ACME_FALLBACK_EMAIL', 'ACME_FALLBACK_EAB_KID', 'ACME_FALLBACK_EAB_HMAC'],
  'CAA_FALLBACK_ISSUER',
];

/** Settings of authorities that do not fit together, one fault each. @param set those that are not empty */
export const authorityFaults = (
  set: Readonly<Record<string, string | undefined>>,
): readonly string[] => {
  const has = (name: string): boolean => set[name] !== undefined;
  const half = (kid: string, hmac: string) =>
    when(has(kid) !== has(hmac), `${kid}, ${hmac}: set both or neither`);
  const alone = ofFallback.filter(has);
  return [
    ...half('ACME_EAB_KID', 'ACME_EAB_HMAC'),
    ...half('ACME_FALLBACK_EAB_KID', 'ACME_FALLBACK_EAB_HMAC'),
    ...when(
      alone.length > 0 && !has(directory),
      `${alone.join(', ')}: of no effect without ${directory}`,
    ),
    ...(has(directory) ? fallbackFaults(set) : []),
  ];
};

const fallbackFaults = (set: Readonly<Record<string, string | undefined>>): readonly string[] => [
  ...when(
    set['ACME_DIRECTORY_URL'] === undefined,
    `${directory}: needs ACME_DIRECTORY_URL, which is the preferred authority`,
  ),
  ...when(
    hostOf(set['ACME_DIRECTORY_URL']) === hostOf(set[directory]),
    `${directory}: must be another authority than ACME_DIRECTORY_URL, at another host`,
  ),
  ...when(
    set['CAA_FALLBACK_ISSUER'] === undefined,
    `CAA_FALLBACK_ISSUER: is required with ${directory}: how CAA records name that authority`,
  ),
];

const hostOf = (url = ''): string => (URL.canParse(url) ? new URL(url).host : url);
