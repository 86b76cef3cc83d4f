import { caBudgets, type BudgetName } from './ca-budget.ts';

/** What each budget counts, for pages, commands and docs; goes behind its number. */
export const budgetWords: Readonly<Record<BudgetName, string>> = {
  automaticFailures: 'failed automatic attempts of one name in an hour',
  manualFailures: 'failed attempts of one name in an hour that you requested',
  ownHost: "failed attempts of a project's own host before a pause of 1, then 10, then 100 minutes",
  orders: 'orders of this service in 3 hours',
  newOrders: 'orders of this service in 3 hours; the rest is kept for renewals',
  furtherOrders:
    'orders of this service in 3 hours; the rest is kept for renewals and for accounts that have ordered ' +
    'nothing within the hour',
  accountHour: 'new certificates for one account in an hour',
  accountDay: 'new certificates for one account in 24 hours',
  registeredDomain: 'certificates below one registered domain in 7 days',
  exactName: 'certificates for exactly one name in 7 days',
  ownHosts:
    "new certificates for projects' own hosts in 7 days, while the platform has none for all of them",
};

/** "10 new certificates for one account in an hour" */
export const limitInWords = (name: BudgetName): string =>
  `${String(caBudgets[name].stopAt)} ${budgetWords[name]}`;
