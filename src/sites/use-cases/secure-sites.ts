import { hostOf, isDueForRenewal } from '../domain/certificate.ts';
import type { SitesPorts } from '../ports.ts';

/** In one run: an authority that is slow must not hold up everything else. */
const mostAtOnce = 500;

type Ports = Pick<
  SitesPorts,
  'edgeRecords' | 'certificates' | 'authority' | 'platformHost' | 'clock'
>;

/** Gets a certificate for every served host that has none, or whose is due for renewal. @returns how many */
export const secureSites =
  ({ edgeRecords, certificates, authority, platformHost, clock }: Ports) =>
  async (): Promise<number> => {
    const now = clock.now();
    const names = await edgeRecords.names();
    const validities = await certificates.validities();
    const wanting = names
      .map((name) => hostOf(name, platformHost))
      .filter((host) => {
        const validity = validities.get(host);
        return !validity || isDueForRenewal(validity, now);
      })
      .slice(0, mostAtOnce);
    for (const host of wanting) await certificates.save(await authority.issue(host));
    return wanting.length;
  };
