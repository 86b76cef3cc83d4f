import type { AuthorityAccount } from '../../domains/certificate-ports.ts';
import { readDocument, type Directory } from './acme-documents.ts';
import { isProblem } from './acme-problem.ts';
import { AcmeTransport, type AuthorityAddress } from './acme-transport.ts';
import { postSigned } from './signed-requests.ts';

/** An authority's view of itself and of our account; reading it changes nothing. */
export interface AuthorityLook {
  readonly directory: Directory;
  /** `Date` of its answer, by the second, and when that came: milliseconds. */
  readonly clock: { readonly time: number; readonly here: number };
  readonly account: 'none' | 'known' | 'unknown there';
}

/**
 * @param account ours, where one is stored
 * @throws AcmeProblem, NoUsableAnswer
 */
export const lookAtAuthority = async (
  address: AuthorityAddress,
  account: AuthorityAccount | undefined,
  signal: AbortSignal,
): Promise<AuthorityLook> => {
  const transport = new AcmeTransport(address);
  const request = { method: 'GET', url: address.directoryUrl } as const;
  const { headers, body } = await transport.send(request, signal);
  const clock = { time: Date.parse(headers.date ?? ''), here: Date.now() };
  return {
    directory: readDocument('directory', body),
    clock,
    account: account ? await stateOf(account, transport, signal) : 'none',
  };
};

const stateOf = async (
  account: AuthorityAccount,
  transport: AcmeTransport,
  signal: AbortSignal,
): Promise<AuthorityLook['account']> => {
  try {
    await postSigned(transport, { url: account.url, signer: account }, signal);
    return 'known';
  } catch (error) {
    if (isProblem(error, 'accountDoesNotExist')) return 'unknown there';
    throw error;
  }
};
