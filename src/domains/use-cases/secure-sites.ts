import { hostOf, isDueForRenewal } from '../domain/certificates/certificate.ts';
import type { DomainPorts } from '../ports.ts';
import {
  secureOwnHost,
  type OwnHost,
  type OwnHostPorts,
  type OwnHostResult,
} from './secure-own-host.ts';

/** Per run; hosts that only wait for a budget do not count. */
const mostHosts = 500;
/** In parallel, because each host mostly waits for the authority. */
const lanes = 8;

type Ports = OwnHostPorts & Pick<DomainPorts, 'accountOf' | 'edgeRecords' | 'hostNames' | 'naming'>;

interface Wanted {
  readonly label: string;
  readonly kind: OwnHost['kind'];
}

/**
 * Gets certificates for projects' own hosts that have none or are due for renewal. Custom domains are handled by
 * `tendDomain`.
 * @returns how many certificates were issued
 */
export const secureSites = (ports: Ports) => {
  const findWanted = wantedHosts(ports);
  const find = ownHost(ports);
  const secure = secureOwnHost(ports);
  return async (isStopping: () => boolean = () => false): Promise<number> => {
    const waiting = (await findWanted()).values();
    const results: OwnHostResult[] = [];
    const isOver = () => isStopping() || results.length >= mostHosts || results.includes('refused');
    const next = async (): Promise<boolean> => {
      const { value: wanted } = isOver() ? {} : waiting.next();
      const own = wanted && (await find(wanted));
      const result = own && (await secure(own));
      if (result && result !== 'held up') results.push(result);
      return wanted !== undefined;
    };
    const lane = async (): Promise<void> => {
      while (await next());
    };
    // The first one that asks it alone shows whether the authority answers at all.
    while (results.length === 0 && (await next()));
    await Promise.all(Array.from({ length: lanes }, lane));
    return results.filter((result) => result === 'issued').length;
  };
};

const wantedHosts =
  ({ edgeRecords, certificates, naming, clock }: Ports) =>
  async (): Promise<readonly Wanted[]> => {
    const now = clock.now();
    const validities = await certificates.validities();
    const labels = (await edgeRecords.names()).filter((name) => !name.includes('.'));
    return labels.flatMap((label): readonly Wanted[] => {
      const validity = validities.get(hostOf(label, naming.platformHost));
      if (!validity) return [{ label, kind: 'own' }];
      return isDueForRenewal(validity, now) ? [{ label, kind: 'own_renewal' }] : [];
    });
  };

/** @returns undefined when the project no longer exists */
const ownHost =
  ({ accountOf, hostNames, naming }: Ports) =>
  async ({ label, kind }: Wanted): Promise<OwnHost | undefined> => {
    const accountId = await accountOf(label);
    const host = hostOf(label, naming.platformHost);
    const { registrableDomain = host } = hostNames.read(host);
    return accountId === undefined
      ? undefined
      : { name: { accountId, host, registrableDomain }, kind };
  };
