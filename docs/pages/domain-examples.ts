import { budgetWords } from '../../src/domains/domain/certificates/ca-budget.ts';
import {
  caBudgets,
  type Budget,
  type BudgetName,
} from '../../src/domains/domain/certificates/ca-budget.ts';
import {
  longestTryingMs,
  waitAfter,
} from '../../src/domains/domain/certificates/certificate-status.ts';
import {
  longestWaitForDnsMs,
  nextCheck,
} from '../../src/domains/domain/attachment/custom-domain.ts';
import { recordsFor, type DnsRecord } from '../../src/domains/domain/dns/records.ts';
import { planAllowances } from '../../src/sites/domain/project.ts';
import {
  exportDomainSettings,
  type DomainSettingsDocument,
} from '../../src/domains/domain/redirects/settings.ts';
import { code } from './markdown.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

export const names = { host: 'shop.example.com', registrableDomain: 'example.com' };
const token = 't-01a1fde9e0ef74ad99ff13be17f97481';

/** Beside the others, where the operator has a zone of DNS challenges. */
export const exampleDelegation = (): readonly DnsRecord[] => {
  const acmeDnsZone = 'acme.animal-store.test';
  const needs = { platformHost: 'sites.animal-store.test', acmeDnsZone, txtRequired: false };
  const records = recordsFor({ ...names, isApex: false }, token, needs);
  return records.filter(({ purpose }) => purpose === 'delegation');
};

export const exampleWildcard = (): readonly DnsRecord[] => {
  const zones = { platformHost: 'sites.animal-store.test', acmeDnsZone: 'acme.animal-store.test' };
  const named = { ...names, host: `*.${names.host}`, isApex: false };
  return recordsFor(named, token, { ...zones, txtRequired: false });
};

export const exampleRecords = (isApex: boolean): readonly DnsRecord[] => {
  const host = isApex ? names.registrableDomain : names.host;
  const needs = { platformHost: 'sites.animal-store.test', txtRequired: false };
  return recordsFor({ ...names, host, isApex }, token, needs);
};

export const recordRow = ({ name, type, value, ttl, required }: DnsRecord): readonly string[] => [
  code(name),
  type === 'ALIAS' ? 'ALIAS or ANAME' : type,
  code(value),
  String(ttl),
  yesOrNo(required),
];

export const exampleSettings = (): DomainSettingsDocument =>
  exportDomainSettings({
    primary: names.host,
    redirects: [{ from: 'www.example.com', to: names.host, status: 308 }],
  });

const yesOrNo = (is: boolean): string => (is ? 'yes' : 'no');

export const limitColumns = [
  'Plan',
  'Custom domains of an account',
  'Added in an hour',
  '[Wildcards](domains.md#wildcards)',
];

export const limits = (): readonly (readonly string[])[] => [
  ...Object.entries(planAllowances).map(([plan, allowance]) => [
    code(plan),
    plan === 'enterprise' ? 'as agreed' : String(allowance.domains),
    String(allowance.domainsAddedPerHour),
    yesOrNo(allowance.hasWildcards),
  ]),
];

/** In words, in the largest unit that fits. */
export const span = (milliseconds: number): string => {
  const units = { day, hour, minute };
  const [unit, length] = Object.entries(units).find(([, one]) => milliseconds % one === 0) ?? [
    'minute',
    minute,
  ];
  const count = milliseconds / length;
  return `${String(count)} ${unit}${count === 1 ? '' : 's'}`;
};

/** Times of all checks of a domain that is never right, found out by asking. */
const checks = (): readonly number[] => {
  const since = new Date(0);
  const times: number[] = [];
  for (let now = since; ;) {
    const next = nextCheck(since, now, 0);
    if (next.kind === 'expired') return times;
    now = next.at;
    times.push(now.getTime());
  }
};

const gapBefore = (times: readonly number[], at: number) => (times[at] ?? 0) - (times[at - 1] ?? 0);

export const checkTimes = (): string => {
  const times = checks();
  const first = times.filter((time) => time < hour).map((time) => String(time / minute));
  const lastHourly = times.findLast((_, at) => gapBefore(times, at) === hour) ?? 0;
  return (
    `after ${first.join(', ')} minutes, then every hour until ${String(lastHourly / hour)} hours are over, ` +
    `then every day until day ${String(longestWaitForDnsMs / day)}.`
  );
};

export const tryingDays = String(longestTryingMs / day);

export const attempts = (): readonly (readonly string[])[] => {
  const rows: string[][] = [];
  for (let failed = 1; ; failed++) {
    const isLast = waitAfter(failed) === waitAfter(failed + 1);
    const number = `${String(failed)}${isLast ? ' and more' : ''}`;
    rows.push([number, `${span(waitAfter(failed))} later`]);
    if (isLast) return rows;
  }
};

export const budgets = (): readonly (readonly string[])[] =>
  (Object.keys(caBudgets) as BudgetName[]).map((name) => {
    const { stopAt, of, windowMs }: Budget = caBudgets[name];
    return [budgetWords[name], String(stopAt), of === undefined ? '–' : String(of), span(windowMs)];
  });
