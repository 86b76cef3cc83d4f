import { createPublicKey, verify } from 'node:crypto';
import { derNodes, derTags, type DerNode } from './der.ts';

export interface CertificateRequest {
  readonly names: readonly string[];
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKey: Buffer;
}

const alternativeNames = '551d11';

/**
 * Reads a request (RFC 2986) for an ECDSA P-256 key, without a common name, as the service sends them.
 * @throws Error that says what is wrong with it
 */
export const readCertificateRequest = (request: Buffer): CertificateRequest => {
  const [outer] = derNodes(request);
  const [body, , signature] = outer ? derNodes(outer.content) : [];
  if (!body || !signature) throw new Error('it is no certificate request');
  const [, , publicKey] = derNodes(body.content);
  if (!publicKey) throw new Error('it has no public key');
  const key = createPublicKey({ key: publicKey.whole, format: 'der', type: 'spki' });
  if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1')
    throw new Error('its key is not P-256');
  if (!verify('sha256', body.whole, key, signature.content.subarray(1))) {
    throw new Error('its signature is wrong');
  }
  return { names: namesIn(body), publicKey: Buffer.from(publicKey.whole) };
};

/** The value that follows the object identifier of the alternative names, wherever the two stand. */
const namesIn = (body: DerNode): readonly string[] => {
  const value = valueAfter(body, alternativeNames);
  const [list] = value ? derNodes(value.content) : [];
  return (list ? derNodes(list.content) : []).map(({ tag, content }) => {
    if (tag !== 0x82) throw new Error('it has an alternative that is no DNS name');
    return content.toString('latin1');
  });
};

const isNested = ({ tag }: DerNode): boolean =>
  tag === derTags.sequence || tag === derTags.set || tag === 0xa0;

const valueAfter = (node: DerNode, id: string): DerNode | undefined => {
  const nodes = derNodes(node.content);
  const at = nodes.findIndex(
    ({ tag, content }) => tag === derTags.oid && content.toString('hex') === id,
  );
  if (at >= 0) return nodes.slice(at).find(({ tag }) => tag === derTags.octets);
  for (const inner of nodes.filter(isNested)) {
    const found = valueAfter(inner, id);
    if (found) return found;
  }
  return undefined;
};
