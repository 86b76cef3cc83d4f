import type { DnsCase } from './fuzz-case.ts';
import type { FuzzField } from './fuzz-field.ts';

/** Of a page about one domain, whatever its resolvers answer. */
const largestPage = 1024 * 1024;

/** Has a domain verified while its resolvers answer nonsense. @returns what is wrong with what comes of it */
export const verifyMangled = async (
  { domain, seed }: DnsCase,
  { hostOf, mangle, judges }: FuzzField,
): Promise<string | undefined> => {
  mangle(domain, seed);
  const visitor = judges[seed % judges.length];
  if (!visitor) throw new Error('nobody looks at what comes of it');
  const page = `/dashboard/projects/birds/settings/domains/${hostOf(domain)}`;
  const verified = await visitor.post(`${page}/verify`);
  if (verified.status >= 500) return `Verify was answered ${verified.status}: ${verified.text}`;
  const { status, text } = await visitor.get(page);
  if (status !== 200) return `the page of the domain was answered ${status}`;
  return text.length > largestPage
    ? `the page of the domain has ${text.length} characters`
    : undefined;
};
