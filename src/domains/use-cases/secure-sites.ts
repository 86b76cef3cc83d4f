import { hostOf, isDueForRenewal } from '../domain/certificates/certificate.ts';
import type { DomainPorts } from '../ports.ts';
import {
  ownHost,
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
  /** The label below the platform host. */
  readonly slug: string;
  readonly kind: OwnHost['kind'];
}

/**
 * Gets certificates for projects' own hosts that have none or are due for renewal. Custom domains are handled by
 * `tendDomain`.
 * @returns how many certificates were issued
 */
export const secureSites = (ports: Ports) => {
  const secure = secureOwnHost(ports);
  return async (isStopping: () => boolean = () => false): Promise<number> => {
    const waiting = (await wantedHosts(ports)).values();
    const results: OwnHostResult[] = [];
    const isOver = () => isStopping() || results.length >= mostHosts || results.includes('refused');
    const next = async (): Promise<boolean> => {
      const { value: wanted } = isOver() ? {} : waiting.next();
      // Undefined when the project no longer exists.
      const accountId = wanted && (await ports.accountOf(wanted.slug));
      const result =
        wanted && accountId !== undefined
          ? await secure(ownHost(ports, { accountId, slug: wanted.slug }, wanted.kind))
          : undefined;
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

const wantedHosts = async (ports: Ports): Promise<readonly Wanted[]> => {
  const { edgeRecords, certificates, naming, clock } = ports;
  const now = clock.now();
  const validities = await certificates.validities();
  const slugs = (await edgeRecords.names()).filter((name) => !name.includes('.'));
  return slugs.flatMap((slug): readonly Wanted[] => {
    const validity = validities.get(hostOf(slug, naming.platformHost));
    if (!validity) return [{ slug, kind: 'own' }];
    return isDueForRenewal(validity, now) ? [{ slug, kind: 'own_renewal' }] : [];
  });
};
