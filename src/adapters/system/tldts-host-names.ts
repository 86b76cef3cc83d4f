import { isIP } from 'node:net';
import { domainToASCII, domainToUnicode } from 'node:url';
import { parse } from 'tldts';
import { longestTyped, type NameFacts } from '../../domains/domain/names/hostname.ts';
import { HostNames } from '../../domains/ports.ts';

/** Names below `github.io` have different owners, and Let's Encrypt counts its limits the same way. */
const options = { allowPrivateDomains: true, extractHostname: false } as const;

/** Follows IDNA as browsers do (UTS #46, non-transitional), and the Public Suffix List of tldts. */
export class TldtsHostNames extends HostNames {
  override read(name: string): NameFacts {
    if (name.length > longestTyped) return nothingKnown;
    // domainToASCII decodes %2e and stops where a URL would continue.
    const ascii = /[\s%/\\?#@:[\]]/.test(name) ? '' : domainToASCII(name);
    const isIp = [name, name.replace(/^\[(.*)\]$/, '$1'), ascii].some((text) => isIP(text) !== 0);
    const { domain, publicSuffix, isIcann, isPrivate } = parse(ascii, options);
    return {
      ascii,
      unicode: domainToUnicode(ascii),
      registrableDomain: domain ?? undefined,
      isPublicSuffix: ascii !== '' && publicSuffix === ascii,
      isSuffixKnown: isIcann === true || isPrivate === true,
      isIp,
    };
  }
}

const nothingKnown: NameFacts = {
  ascii: '',
  unicode: '',
  registrableDomain: undefined,
  isPublicSuffix: false,
  isSuffixKnown: false,
  isIp: false,
};
