import type { AccessPorts } from '../ports.ts';

type Ports = Pick<AccessPorts, 'sealer' | 'keyMaterial'>;

/** A browser, and the people who have signed in there, newest first. */
export interface KnownDevice {
  readonly id: string;
  readonly personIds: readonly string[];
  /** Those of them whose addresses were proven then: nobody else can have made the browser known for these. */
  readonly provenIds: readonly string[];
}

const purpose = 'known device';
const longestToken = 4000;
const mostPeople = 8;
const idLength = 32;

/** @param token from `markDevice`, or untrusted text. @returns undefined for a token that we did not make */
export const openDevice = (
  { sealer }: Pick<Ports, 'sealer'>,
  token: string | undefined,
): KnownDevice | undefined => {
  if (token === undefined || token.length > longestToken) return undefined;
  try {
    return JSON.parse(sealer.open(token, purpose)) as KnownDevice;
  } catch {
    return undefined;
  }
};

/** Adds a person to a browser. @returns its new token, which grants no access by itself */
export const markDevice = (
  { sealer, keyMaterial }: Ports,
  token: string | undefined,
  { personId, isProven }: { readonly personId: string; readonly isProven: boolean },
): string => {
  const { id, personIds, provenIds } = openDevice({ sealer }, token) ?? nobodyYet(keyMaterial);
  const device: KnownDevice = {
    id,
    personIds: withFirst(personIds, personId),
    provenIds: isProven ? withFirst(provenIds, personId) : provenIds,
  };
  return sealer.seal(JSON.stringify(device), purpose);
};

const nobodyYet = (keyMaterial: Ports['keyMaterial']): KnownDevice => ({
  ...{ id: keyMaterial.randomBase62(idLength), personIds: [], provenIds: [] },
});

const withFirst = (ids: readonly string[], first: string): readonly string[] =>
  [first, ...ids.filter((id) => id !== first)].slice(0, mostPeople);
