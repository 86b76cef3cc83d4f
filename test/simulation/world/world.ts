import { randomBytes } from 'node:crypto';
import type { Container } from 'inversify';
import { AcmeCertificateAuthority } from '../../../src/adapters/acme/acme-certificate-authority.ts';
import { NodeDnsVerifier } from '../../../src/adapters/dns/node-dns-verifier.ts';
import { PostmanKey, SecondAuthorityKey } from '../../../src/app/keys.ts';
import type { Config, AcmeConfig } from '../../../src/app/settings/settings.ts';
import { AuthorityAccounts, CertificateAuthority } from '../../../src/domains/certificate-ports.ts';
import { DnsVerifier } from '../../../src/domains/ports.ts';
import { Clock, Ids } from '../../../src/kernel/ports.ts';
import { Outside } from '../../../src/notifications/webhook-ports.ts';
import { SiteFiles, SiteUnpacking } from '../../../src/sites/ports.ts';
import { DirectUnpacking } from '../../support/sites/direct-unpacking.ts';
import { Authority } from './authority.ts';
import { LookUpFailed, vantages, type Outlook } from './authority-validation.ts';
import type { Chance } from './chance.ts';
import { across } from './crossing.ts';
import { Dns } from './dns.ts';
import type { RecordData, RecordType } from './dns-records.ts';
import type { ZoneProcess } from './dns-zones.ts';
import { MailServer, Receivers } from './receivers.ts';
import { SiteDisk, siteOf } from './site-disk.ts';
import type { Time } from './time.ts';

export const service = {
  zone: 'store.example',
  platformHost: 'sites.store.example',
  acmeDnsZone: 'acme.store.example',
  address: '203.0.113.7',
  resolvers: ['192.0.2.1', '192.0.2.2', '192.0.2.3'],
} as const;

export const authorityNames = ['one', 'two'] as const;
export type AuthorityName = (typeof authorityNames)[number];

/** The vantage point of an authority, in the terms of the DNS model. */
const vantageOf = (authority: string, vantage: number): string => `${authority}/${String(vantage)}`;

export const vantagesOf = (authority: string): readonly string[] =>
  vantages.map((vantage) => vantageOf(authority, vantage));

export interface WorldPorts {
  readonly time: Time;
  readonly chance: Chance;
  /** The edge's answer to a challenge. @throws Error if the edge is down */
  readonly answerChallenge: (host: string, token: string) => Promise<string | undefined>;
  /** The name servers of the service. They may never answer. */
  readonly answerDns: ZoneProcess;
  /** Called in a process that has just sent a request to an authority. */
  readonly onAsk?: (url: string) => void;
  /** Called for each order that an authority receives. */
  readonly onOrder?: (authority: AuthorityName, names: readonly string[]) => void;
}

export class World {
  readonly dns: Dns;
  readonly authorities: Readonly<Record<AuthorityName, Authority>>;
  readonly receivers = new Receivers();
  readonly mail = new MailServer();
  readonly disk = new SiteDisk();
  readonly #ports: WorldPorts;

  constructor(ports: WorldPorts) {
    this.#ports = ports;
    const { time, chance } = ports;
    const now = () => time.now;
    this.dns = new Dns({ now, suffixes: ['example', 'test'], resolvers: service.resolvers });
    this.#publishService();
    const authority = (name: AuthorityName): Authority =>
      new Authority({
        origin: `https://acme.${name}.example`,
        issuers: [`${name}.example`],
        outlook: this.#outlookOf(name),
        onOrder: (names) => ports.onOrder?.(name, names),
        now,
        chance: chance.of('authority', name),
      });
    this.authorities = { one: authority('one'), two: authority('two') };
  }

  bind(container: Container, config: Config): void {
    const { time, chance } = this.#ports;
    container.rebind(Ids).toConstantValue(new DrawnIds(time, chance));
    container.rebind(DnsVerifier).toDynamicValue((c) => this.#verifier(config, c.get(Clock)));
    container
      .rebind(CertificateAuthority)
      .toDynamicValue((c) =>
        this.#client('one', present(config.acme), c.get(AuthorityAccounts), c.get(Clock)),
      )
      .inSingletonScope();
    container
      .rebind(SecondAuthorityKey)
      .toDynamicValue((c) => ({
        authority: this.#client(
          'two',
          present(config.acmeFallback),
          c.get(AuthorityAccounts),
          c.get(Clock),
        ),
      }))
      .inSingletonScope();
    container.rebind(Outside).toConstantValue(across(time, this.receivers));
    container.rebind(PostmanKey).toConstantValue({ postman: across(time, this.mail) });
    container.rebind(SiteFiles).toConstantValue(this.disk);
    container.rebind(SiteUnpacking).toConstantValue(new DirectUnpacking(this.disk, siteOf));
  }

  #verifier(config: Config, clock: Clock): DnsVerifier {
    return new NodeDnsVerifier({
      servers: config.dnsServers,
      clock,
      asksForDelegation: true,
      randomLabel: () => `as-${randomBytes(8).toString('hex')}`,
      questionsTo: this.dns.questionsTo,
    });
  }

  #client(
    name: AuthorityName,
    settings: AcmeConfig,
    accounts: AuthorityAccounts,
    clock: Clock,
  ): CertificateAuthority {
    const authority = across(this.#ports.time, this.authorities[name]);
    const http = {
      send: (...request: Parameters<typeof authority.send>) => {
        const answer = authority.send(...request);
        this.#ports.onAsk?.(request[0].url);
        return answer;
      },
    };
    return new AcmeCertificateAuthority({ ...settings, http }, accounts, clock);
  }

  #publishService(): void {
    const { zones } = this.dns;
    const { zone, platformHost, acmeDnsZone, address } = service;
    zones.register(zone);
    zones.set(platformHost, 'A', [address], 3600);
    zones.set(`*.${platformHost}`, 'A', [address], 3600);
    zones.set(`_acme-challenge.${platformHost}`, 'CNAME', [`platform.${acmeDnsZone}`], 3600);
    zones.register(acmeDnsZone, {}, this.#ports.answerDns);
  }

  #outlookOf(name: AuthorityName): Outlook {
    const look = async <Type extends RecordType>(
      host: string,
      type: Type,
      vantage: number,
    ): Promise<readonly RecordData[Type][]> => {
      const reply = await this.dns.lookup(vantageOf(name, vantage), host, type);
      if (reply.kind === 'failed') throw new LookUpFailed('dns', `${reply.reason} for ${host}`);
      return reply.kind === 'records' ? reply.records : [];
    };
    return {
      addresses: async (host, vantage) => [
        ...(await look(host, 'A', vantage)),
        ...(await look(host, 'AAAA', vantage)),
      ],
      http01: async (host, token, vantage) => {
        const [address] = await look(host, 'A', vantage);
        if (address !== service.address) return undefined;
        try {
          return await this.#ports.answerChallenge(host, token);
        } catch (error) {
          throw new LookUpFailed('connection', String(error));
        }
      },
      txt: (host, vantage) => look(host, 'TXT', vantage),
      caa: (host, vantage) => look(host, 'CAA', vantage),
    };
  }
}

/** Ids grow with the time of the process, as in `UuidIds`. */
class DrawnIds extends Ids {
  readonly #time: Time;
  readonly #chance: Chance;
  #count = 0;

  constructor(time: Time, chance: Chance) {
    super();
    this.#time = time;
    this.#chance = chance;
  }

  override next(prefix: string): string {
    const name = this.#time.actor?.name ?? 'world';
    this.#count = (this.#count + 1) % 0x10_00;
    const random = this.#chance.of('ids', name);
    const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0');
    const tail = Array.from({ length: 2 }, () => hex(random.int(2 ** 32), 8)).join('');
    return `${prefix}_${hex(this.#time.shown, 12)}7${hex(this.#count, 3)}${tail}`;
  }
}

const present = <T>(setting: T | undefined): T => {
  if (setting === undefined) throw new Error('a setting is missing');
  return setting;
};
