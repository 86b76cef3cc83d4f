/** Limit in characters for a typed name. Longer text is never parsed, because IDNA would take very long. */
export const longestTyped = 1000;

/** What only libraries know about a name. */
export interface NameFacts {
  /** The name as A-labels (RFC 5890); '' when IDNA refuses it, or when it is longer than `longestTyped`. */
  readonly ascii: string;
  /** The same name as U-labels, for people. */
  readonly unicode: string;
  /** The public suffix and one label, as A-labels. */
  readonly registrableDomain: string | undefined;
  readonly isPublicSuffix: boolean;
  /** Whether the Public Suffix List names what it ends in. */
  readonly isSuffixKnown: boolean;
  /** Also for a spelling that programs read as an address, like `0x7f.1`. */
  readonly isIp: boolean;
}

export interface NameSettings {
  readonly platformHost: string;
  /** The zone of DNS challenges; undefined where there is none. */
  readonly acmeDnsZone?: string | undefined;
  /** Whether names below `test` (RFC 6761) can be added. */
  readonly allowTestDomains: boolean;
}
