import 'reflect-metadata';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { Pkcs10CertificateRequestGenerator, SubjectAlternativeNameExtension } from '@peculiar/x509';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };

/**
 * For one host and an ECDSA P-256 key (RFC 2986), DER. The host stands only in the alternative names: a common
 * name holds no more than 64 characters.
 */
export const certificateRequest = async (host: string, privateKey: string): Promise<Buffer> => {
  const key = createPrivateKey(privateKey);
  const request = await Pkcs10CertificateRequestGenerator.create({
    keys: {
      privateKey: key.toCryptoKey(algorithm, false, ['sign']),
      publicKey: createPublicKey(key).toCryptoKey(algorithm, true, ['verify']),
    },
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
    extensions: [new SubjectAlternativeNameExtension([{ type: 'dns', value: host }])],
  });
  return Buffer.from(request.rawData);
};
