import { hash } from 'node:crypto';

const field = 'done';

/**
 * What a form did, for the page that it leads to. Only the session that did it can write this: a link from elsewhere says
 * nothing.
 * @param secret of the session
 */
export const doneBy = (secret: string, code: string): string => `${code}.${proofOf(secret, code)}`;

/** @returns the query with the code alone, or without one that this session did not write */
export const withProvenDone = (query: URLSearchParams, secret: string): URLSearchParams => {
  const [code = '', proof] = query.get(field)?.split('.') ?? [];
  const proven = new URLSearchParams(query);
  if (proof === proofOf(secret, code)) proven.set(field, code);
  else proven.delete(field);
  return proven;
};

const proofOf = (secret: string, code: string): string =>
  hash('sha256', JSON.stringify([secret, code]), 'base64url').slice(0, 11);
