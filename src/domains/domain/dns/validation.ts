import { isWildcard } from '../names/name-rules.ts';

interface MethodRules {
  readonly provesWildcards: boolean;
  /** The challenge name has to lead to us. */
  readonly needsDelegation: boolean;
  /** The visitors of the name have to reach us, and so the authority does. */
  readonly needsTraffic: boolean;
}

/**
 * How an authority validates a name (RFC 8555, section 8), the preferred way first. Where the challenge name is delegated to
 * us, DNS works behind any proxy; it alone proves a wildcard (section 8.4).
 */
export const validationMethods = {
  'dns-01': { provesWildcards: true, needsDelegation: true, needsTraffic: false },
  'http-01': { provesWildcards: false, needsDelegation: false, needsTraffic: true },
} as const satisfies Readonly<Record<string, MethodRules>>;

export type ValidationMethod = keyof typeof validationMethods;

export const methodNames = Object.keys(
  validationMethods,
) as readonly ValidationMethod[] as readonly [ValidationMethod, ...ValidationMethod[]];

/** How a name is validated whose traffic may lead elsewhere. */
export const methodBeforeTraffic =
  methodNames.find((method) => !validationMethods[method].needsTraffic) ?? methodNames[0];

export const needsTraffic = (method: ValidationMethod): boolean =>
  validationMethods[method].needsTraffic;

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

interface Name {
  readonly host: string;
  readonly isDelegated: boolean;
}

/** Those that can prove it, the preferred one first. */
export const methodsFor = ({
  host,
  isDelegated,
}: Name): readonly [ValidationMethod, ...ValidationMethod[]] => {
  const [first = methodNames[0], ...others] = methodNames.filter((method) => {
    const { provesWildcards, needsDelegation } = validationMethods[method];
    return isWildcard(host) ? provesWildcards : isDelegated || !needsDelegation;
  });
  return [first, ...others];
};

/**
 * The preferred one that CAA allows, or the preferred one.
 * @param allows whether CAA may allow it; see `validationmethods` (RFC 8657, section 4)
 */
export const methodFor = (
  name: Name,
  allows: (method: ValidationMethod) => boolean,
): ValidationMethod => {
  const methods = methodsFor(name);
  return methods.find(allows) ?? methods[0];
};

interface Validated {
  readonly host: string;
  /** What the last report says. */
  readonly validation: Validation | undefined;
}

/** How that authority validates the name. */
export const methodAt = ({ host, validation }: Validated, authority: string): ValidationMethod => {
  const [otherwise] = methodsFor({ host, isDelegated: false });
  if (isWildcard(host)) return otherwise;
  return validation?.exceptions?.[authority] ?? validation?.method ?? otherwise;
};

interface MethodFacts extends Validated {
  /** Name of the authority that is asked. */
  readonly authority: string;
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
  const method = methodAt(facts, authority);
  if (method !== unproven || !leadsHere || validation?.onlyByDns?.includes(authority))
    return method;
  const others = methodsFor({ host, isDelegated: true }).filter(needsTraffic);
  return needsTraffic(method) ? method : (others[0] ?? method);
};
