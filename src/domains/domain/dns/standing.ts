import type { DnsReport } from './report.ts';

/** What is known of a domain's DNS, and when it is checked. */
export interface DnsStanding {
  /** The last one. */
  readonly report: DnsReport | undefined;
  readonly lastCheckedAt: Date | undefined;
  readonly nextCheckAt: Date | undefined;
  readonly lastVerifyAskedAt: Date | undefined;
  /** While it was added: the last one that found its certificate there, or coming without its owner. */
  readonly preparedUntil: Date | undefined;
}

export const neverChecked: DnsStanding = {
  report: undefined,
  lastCheckedAt: undefined,
  nextCheckAt: undefined,
  lastVerifyAskedAt: undefined,
  preparedUntil: undefined,
};

export const checked = (dns: DnsStanding, report: DnsReport, nextCheckAt: Date): DnsStanding => ({
  ...dns,
  report,
  lastCheckedAt: report.checkedAt,
  nextCheckAt,
});

/** A later check finished first. Unless the clock was set back: then the last one is in the future. */
export const isOvertaken = (
  { lastCheckedAt }: DnsStanding,
  { checkedAt }: DnsReport,
  now: Date,
): boolean => lastCheckedAt !== undefined && checkedAt < lastCheckedAt && lastCheckedAt <= now;

/** Whether a domain needs the records of an apex. The DNS may know of a zone below the registrable domain. */
export const isAtApex = ({
  isApex,
  dns,
}: {
  readonly isApex: boolean;
  readonly dns: DnsStanding;
}) => dns.report?.isApex ?? isApex;
