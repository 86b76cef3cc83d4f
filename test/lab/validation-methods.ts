import type { ValidationMethod } from '../../src/domains/domain/dns/validation.ts';
import type { DomainLab } from './domain-lab.ts';
import type { ShownDomain } from './shown-domain.ts';

/** Ways to validate a name, in words for the titles of tests and for the names of hosts. */
export const validationMethods = [
  { way: 'over HTTP', word: 'http', method: 'http-01' },
  { way: 'by DNS', word: 'dns', method: 'dns-01' },
] as const satisfies readonly {
  readonly way: string;
  readonly word: string;
  readonly method: ValidationMethod;
}[];

/** Nobody answers HTTP there. */
const nowhere = { A: ['127.0.0.99'] };

/**
 * Creates the records with which the domain is validated in this way, and in no other: where it is DNS, the authority
 * does not reach the site. The lab must have a zone of challenges.
 */
export const pointFor = (
  { zone }: Pick<DomainLab, 'zone'>,
  method: ValidationMethod,
  { domain: { host }, records: [route, , ...delegation] }: ShownDomain,
): void => {
  if (method === 'dns-01') zone.lie(host, nowhere);
  zone.create(route, ...(method === 'dns-01' ? delegation : []));
};
