import type { DnsRecord } from '../../../domains/domain/dns/records.ts';
import type { DnsReport } from '../../../domains/domain/dns/report.ts';

/** Whether the last check found the record. */
export const isSeen = (report: DnsReport, purpose: DnsRecord['purpose']): boolean => {
  switch (purpose) {
    case 'route':
      return report.pointsHere;
    case 'ownership':
      return report.textSeen ?? report.ownershipProven;
    case 'delegation':
      return report.validation?.delegated ?? false;
  }
};
