import { constants } from 'node:crypto';

/** The first that a client has: processors compute the hashes of this one themselves, and each handshake takes many. */
const tls13Ciphers = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
];
/** Authenticated encryption with forward secrecy (RFC 9325, section 4.2); our certificates are ECDSA. None is CBC. */
const tls12Ciphers = [
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-RSA-CHACHA20-POLY1305',
];

/**
 * For the server and the context of each host. No session is resumed: with ECDSA keys a resumed handshake costs the
 * server as much as a full one (docs/performance.md), and it would not ask for the host's certificate again. Nor is
 * a connection of TLS 1.2 negotiated again, which could change its name but not its certificate.
 */
export const tlsOptions = {
  minVersion: 'TLSv1.2',
  ciphers: [...tls13Ciphers, ...tls12Ciphers].join(':'),
  secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION,
} as const;
