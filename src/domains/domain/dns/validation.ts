import { isWildcard } from '../names/wildcard.ts';

/** How an authority validates a name (RFC 8555, section 8). */
export type ValidationMethod = 'http-01' | 'dns-01';

/** What the DNS says about validating the name by DNS. */
export interface Validation {
  /** Whether the challenge name leads into our zone. */
  readonly delegated: boolean;
  /** The label of our zone that it leads to, where that is not the attachment's own: see `judgeDelegation`. */
  readonly label?: string | undefined;
  /** How certificates are validated from now on. */
  readonly method: ValidationMethod;
  /** By the names of the authorities that validate by another method, because CAA allows them only that. */
  readonly exceptions?: Readonly<Record<string, ValidationMethod>> | undefined;
  /** The names of the authorities that CAA allows nothing but DNS. */
  readonly onlyByDns?: readonly string[] | undefined;
}

interface Validated {
  readonly host: string;
  /** What the last report says. */
  readonly validation: Validation | undefined;
}

/** How that authority validates the name. */
export const methodAt = ({ host, validation }: Validated, authority: string): ValidationMethod =>
  isWildcard(host)
    ? 'dns-01'
    : (validation?.exceptions?.[authority] ?? validation?.method ?? 'http-01');

interface MethodFacts {
  readonly host: string;
  /** Name of the authority that is asked. */
  readonly authority: string;
  readonly validation: Validation | undefined;
  /** Whether visitors of the name reach us, and so the authority does over HTTP. */
  readonly leadsHere: boolean;
  /** How the name was proven when that authority or another one did not find the proof the last time. */
  readonly unproven: ValidationMethod | undefined;
}

/**
 * How the next order is validated. Where the authority did not find a proof by DNS, the next one is over HTTP if that is
 * possible, and then by DNS again.
 */
export const chooseMethod = (facts: MethodFacts): ValidationMethod => {
  const { host, authority, validation, leadsHere, unproven } = facts;
  const method = methodAt({ host, validation }, authority);
  const isDnsOnly = isWildcard(host) || validation?.onlyByDns?.includes(authority);
  const isFallback = method === 'dns-01' && unproven === 'dns-01' && leadsHere && !isDnsOnly;
  return isFallback ? 'http-01' : method;
};

interface Name {
  readonly host: string;
  readonly isDelegated: boolean;
}

/**
 * Where the challenge name is delegated to us, certificates are validated by DNS: that works behind any proxy. If CAA
 * does not allow it, over HTTP. A wildcard can only be validated by DNS (RFC 8555, section 8.4).
 * @param allows whether CAA may allow it; see `validationmethods` (RFC 8657, section 4)
 */
export const methodFor = (
  name: Name,
  allows: (method: ValidationMethod) => boolean,
): ValidationMethod => {
  const methods = methodsFor(name);
  return methods.find(allows) ?? methods[0];
};

export const methodsFor = ({
  host,
  isDelegated,
}: Name): readonly [ValidationMethod, ...ValidationMethod[]] => {
  if (isWildcard(host)) return ['dns-01'];
  return isDelegated ? ['dns-01', 'http-01'] : ['http-01'];
};
