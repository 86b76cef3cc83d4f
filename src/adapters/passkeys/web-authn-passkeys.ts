import { isIP } from 'node:net';
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import type { Passkey } from '../../access/domain/second-factor.ts';
import { Passkeys, type IsOurChallenge, type PasskeyOptions } from '../../access/people-ports.ts';

interface Site {
  /** The id of the relying party. */
  readonly id: string;
  readonly origin: string;
}

/**
 * Browsers accept only names for passkeys, never IP addresses (WebAuthn, section 5.1.2). This machine also has the name
 * `localhost`.
 */
const siteOf = (dashboard: string): Site | undefined => {
  const url = new URL(dashboard);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (host === '127.0.0.1' || host === '::1') url.hostname = 'localhost';
  else if (isIP(host) !== 0) return undefined;
  return { id: url.hostname, origin: url.origin };
};

/** The library loads slowly, so it is loaded on first use. */
const library = () => import('@simplewebauthn/server');

/** EdDSA, ES256 and RS256 (RFC 9053, RFC 8812). Node's ML-DSA, which the library prefers, is experimental. */
const supportedAlgorithmIDs = [-8, -7, -257];

const notRight = () => undefined;

export class WebAuthnPasskeys extends Passkeys {
  readonly #site: Site | undefined;

  /** @param dashboard scheme and host */
  constructor(dashboard: string) {
    super();
    this.#site = siteOf(dashboard);
  }

  override get origin(): string | undefined {
    return this.#site?.origin;
  }

  override async creation({ challenge, person, known }: PasskeyOptions): Promise<string> {
    const { generateRegistrationOptions } = await library();
    const options = await generateRegistrationOptions({
      rpName: 'Animal Store',
      rpID: this.#here.id,
      challenge,
      userName: person.email,
      userID: new Uint8Array(Buffer.from(person.id)),
      attestationType: 'none',
      supportedAlgorithmIDs,
      excludeCredentials: known.map((id) => ({ id })),
      authenticatorSelection: { residentKey: 'discouraged', userVerification: 'preferred' },
    });
    return JSON.stringify(options);
  }

  override async request({ challenge, known }: PasskeyOptions): Promise<string> {
    const { generateAuthenticationOptions } = await library();
    const options = await generateAuthenticationOptions({
      rpID: this.#here.id,
      challenge,
      userVerification: 'preferred',
      allowCredentials: known.map((id) => ({ id })),
    });
    return JSON.stringify(options);
  }

  override async made(
    shown: string,
    isOurs: IsOurChallenge,
  ): Promise<Pick<Passkey, 'id' | 'publicKey' | 'counter'> | undefined> {
    const { verifyRegistrationResponse } = await library();
    const verifying = async () =>
      verifyRegistrationResponse({
        response: JSON.parse(shown) as RegistrationResponseJSON,
        supportedAlgorithmIDs,
        ...this.#expected(isOurs),
      });
    const verified = await verifying().catch(notRight);
    if (!verified?.verified) return undefined;
    const { id, publicKey, counter } = verified.registrationInfo.credential;
    return { id, publicKey: Buffer.from(publicKey).toString('base64url'), counter };
  }

  override async shown(
    shown: string,
    known: readonly Passkey[],
    isOurs: IsOurChallenge,
  ): Promise<Pick<Passkey, 'id' | 'counter'> | undefined> {
    const { verifyAuthenticationResponse } = await library();
    const verifying = async () => {
      const response = JSON.parse(shown) as AuthenticationResponseJSON;
      const passkey = known.find(({ id }) => id === response.id);
      if (!passkey) return undefined;
      const { id, publicKey, counter } = passkey;
      const credential = {
        id,
        counter,
        publicKey: new Uint8Array(Buffer.from(publicKey, 'base64url')),
      };
      return verifyAuthenticationResponse({ response, credential, ...this.#expected(isOurs) });
    };
    const verified = await verifying().catch(notRight);
    if (!verified?.verified) return undefined;
    const { credentialID: id, newCounter: counter } = verified.authenticationInfo;
    return { id, counter };
  }

  #expected(isOurs: IsOurChallenge) {
    return {
      expectedChallenge: (sent: string) => isOurs(Buffer.from(sent, 'base64url').toString()),
      expectedOrigin: this.#here.origin,
      expectedRPID: this.#here.id,
      requireUserVerification: false,
    };
  }

  get #here(): Site {
    if (!this.#site) throw new Error('passkeys need a host with a name');
    return this.#site;
  }
}
