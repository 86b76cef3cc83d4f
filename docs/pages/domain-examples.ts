import {
  budgetWords,
  caBudgets,
  type Budget,
  type BudgetName,
} from '../../src/domains/domain/certificates/ca-budget.ts';
import { waitAfter } from '../../src/domains/domain/certificates/certificate-status.ts';
import { recordsFor, type DnsRecord } from '../../src/domains/domain/dns/records.ts';
import { planAllowances } from '../../src/sites/domain/project.ts';
import { code } from './markdown.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

const names = { host: 'shop.example.com', registrableDomain: 'example.com' };
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
