import * as v from 'valibot';
import {
  isProblemCode,
  responsibles,
  severities,
  type DnsProblem,
  type DnsProblemCode,
} from '../../../domains/domain/dns/problem.ts';
import { perhaps, type Entries } from '../column.ts';

/** A version after this one may have stored a code of its own: it is read as a lookup that failed. */
const code = v.pipe(
  v.string(),
  v.transform((stored): DnsProblemCode => (isProblemCode(stored) ? stored : 'dns_lookup_failed')),
);

export const problem = v.object({
  code,
  severity: v.picklist(severities),
  actor: v.picklist(responsibles),
  fix: v.string(),
  seen: v.string(),
  wanted: v.string(),
  resolver: perhaps(v.string()),
} satisfies Entries<DnsProblem>);
