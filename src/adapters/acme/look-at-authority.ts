import { createPrivateKey } from 'node:crypto';
import type { AuthorityAccount } from '../../sites/ports.ts';
import { readDocument, type Directory } from './acme-documents.ts';
import { AcmeHttp } from './acme-http.ts';
import { isProblem } from './acme-problem.ts';
import { SignedRequests } from './signed-requests.ts';

/** An authority's view of itself and of our account; reading it changes nothing. */
export interface AuthorityLook {
  readonly directory: Directory;
  /** `Date` of its answer, by the second, and when that came: milliseconds. */
  readonly clock: { readonly time: number; readonly here: number };
  readonly account: 'none' | 'known' | 'unknown there';
}

/**
 * @param account ours, where one is stored
 * @param trustedCa as in `AcmeSettings`
 * @throws AcmeProblem, NoUsableAnswer
 */
export const lookAtAuthority = async (
  { directoryUrl, trustedCa }: { readonly directoryUrl: string; readonly trustedCa?: string },
  account: AuthorityAccount | undefined,
  signal: AbortSignal,
): Promise<AuthorityLook> => {
  const requests = new SignedRequests(directoryUrl, new AcmeHttp(trustedCa));
  const { headers, body } = await requests.get(directoryUrl, signal);
  const clock = { time: Date.parse(headers.date ?? ''), here: Date.now() };
  return {
    directory: readDocument('directory', body),
    clock,
    account: account ? await stateOf(account, requests, signal) : 'none',
  };
};

const stateOf = async (
  { url, privateKey }: AuthorityAccount,
  requests: SignedRequests,
  signal: AbortSignal,
): Promise<AuthorityLook['account']> => {
  try {
    const signer = { key: createPrivateKey(privateKey), accountUrl: url };
    await requests.post(url, undefined, signer, signal);
    return 'known';
  } catch (error) {
    if (isProblem(error, 'accountDoesNotExist')) return 'unknown there';
    throw error;
  }
};
