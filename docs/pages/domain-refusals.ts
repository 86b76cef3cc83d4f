import {
  domainNameProblems,
  type DomainNameProblem,
} from '../../src/domains/domain/domains-error.ts';
import { code } from './markdown.ts';

type Told = readonly [meaning: string, advice: string];

const names: Readonly<Record<DomainNameProblem, Told>> = {
  domain_name_invalid: [
    'It is not a valid host name: it has a path, a port, an underscore or another invalid character, an extra dot, or a top-level domain that does not exist.',
    'The message says what is wrong with it.',
  ],
  ip_literal: ['It is an IP address, or written like one.', 'Use a name.'],
  name_reserved: [
    'It is reserved (such as `example`, `localhost`, `local`), is below the platform host, or is a wildcard that covers it.',
    'Use a name that you registered.',
  ],
  name_too_long: [
    'A part has more than 63 characters, or the whole name more than 253 (a wildcard: 235).',
    'Use a shorter one.',
  ],
  public_suffix: [
    'It is a public suffix, such as `co.uk`: others register their domains below it.',
    'Use a name below a domain that you registered.',
  ],
  wildcard_unsupported: [
    'It has an asterisk that is not its whole first part, or this service has no [zone](certificates-and-dns.md#setting-up-the-zone) to prove [wildcards](#wildcards) with.',
    'Add each name by itself.',
  ],
};

const others: Readonly<Record<string, Told>> = {
  plan_upgrade_required: [
    'The plan does not include custom domains, or it does not include [wildcards](#wildcards).',
    'Change the plan.',
  ],
  domains_added_too_fast: [
    'The account has added too many domains within an hour; removed ones count too.',
    'Wait; the message says how long.',
  ],
  domain_limit_reached: [
    'The plan has no room for another one.',
    'Remove one, or ask the operator for a larger plan.',
  ],
  no_successful_deploy: ['The project has nothing to serve yet.', 'Deploy it.'],
  domain_taken: [
    'Your account has added it already; the message names the project.',
    'If it is on this project, there is nothing to do. If it is on another project, remove it there first.',
  ],
};

/** Why a name is not added. */
export const refusals = (): readonly (readonly string[])[] => [
  ...domainNameProblems.map((name) => [code(name), ...names[name]]),
  ...Object.entries(others).map(([name, told]) => [code(name), ...told]),
];
