import type { AskingDevice } from '../domain/mail-request.ts';
import type { AccessPorts } from '../ports.ts';

type Ports = Pick<AccessPorts, 'sealer' | 'keyMaterial'>;

/** The people who have signed in there, newest first. */
type KnownDevice = AskingDevice;

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
  personId: string,
): string => {
  const known = openDevice({ sealer }, token);
  const others = (known?.personIds ?? []).filter((id) => id !== personId);
  const device: KnownDevice = {
    id: known?.id ?? keyMaterial.randomBase62(idLength),
    personIds: [personId, ...others].slice(0, mostPeople),
  };
  return sealer.seal(JSON.stringify(device), purpose);
};
