import { AccessKey, DomainsKey, SitesKey, WebhookCallsKey } from '../../src/app/keys.ts';
import type { CustomDomain } from '../../src/domains/domain/attachment/custom-domain.ts';
import type { DnsRecord } from '../../src/domains/domain/dns/records.ts';
import { Acting, Unavailable } from '../../src/kernel/ports.ts';
import { DomainError } from '../../src/kernel/decision.ts';
import { ownersKinds } from '../../src/notifications/domain/kinds.ts';
import { DnsEdits, type Mistake } from './dns-edits.ts';
import { NoAnswer, Pages, type Shop } from './pages.ts';
import { shopNames, shopOf, ownerOf, receiverOf, zoneOf, type ShopName } from './shops.ts';
import type { SimulatedProcess } from './fleet.ts';
import { handed } from './world/crossing.ts';
import { callApi, type Answer } from './world/requests.ts';
import type { Time } from './world/time.ts';
import type { World } from './world/world.ts';

/** A write that the service has acknowledged, so it must exist. */
export type Acknowledged =
  | { readonly kind: 'domain'; readonly shop: ShopName; readonly id: string; readonly host: string }
  | { readonly kind: 'removal'; readonly id: string; readonly host: string; readonly at: number }
  | { readonly kind: 'deletion'; readonly shop: ShopName; readonly id: string }
  | { readonly kind: 'pet'; readonly shop: ShopName; readonly id: bigint };

export interface Burst {
  readonly shop: ShopName;
  readonly at: number;
  readonly answers: readonly Pick<Answer, 'status'>[];
}

export interface OwnerPorts {
  readonly time: Time;
  readonly world: World;
  readonly api: () => SimulatedProcess | undefined;
  readonly note: (who: string, text: string) => void;
  /** Called when a page says that a certificate waits for a budget. */
  readonly onHold?: (budget: string) => void;
  readonly onAnswer?: (shop: ShopName, words: readonly string[], outcome: string) => void;
}

/** Whether the error is neither an explained refusal nor a missing answer. */
const isFault = (error: unknown): boolean =>
  !(error instanceof DomainError || error instanceof Unavailable || error instanceof NoAnswer);

/** A browser gives up after this time, and a person tries again. */
const patienceMs = 60_000;
const tries = 20;

export class Owners {
  readonly shops = new Map<ShopName, Shop>();
  readonly #opening = new Map<ShopName, Promise<Shop>>();
  readonly acknowledged: Acknowledged[] = [];
  readonly bursts: Burst[] = [];
  /** Failures for which the owner got no reason. */
  readonly faults: Readonly<Record<string, string>>[] = [];
  readonly #ports: OwnerPorts;
  readonly #dns: DnsEdits;
  readonly #pages = new Pages();

  constructor(ports: OwnerPorts) {
    this.#ports = ports;
    this.#dns = new DnsEdits(ports.world.dns.zones);
  }

  /** Opens the accounts, each with a published project and a webhook. */
  async open(): Promise<void> {
    for (const name of shopNames) await this.#do(await this.#open(name), 'listens', []);
  }

  /** Concurrent steps of a guest open only one account. */
  async #shopOf(name: ShopName): Promise<Shop> {
    const known = this.shops.get(name) ?? this.#opening.get(name);
    if (known) return known;
    const opening = this.#open(name);
    this.#opening.set(name, opening);
    try {
      return await opening;
    } finally {
      this.#opening.delete(name);
    }
  }

  /** @returns the account, with a published project */
  async #open(name: ShopName): Promise<Shop> {
    const { plan, zone } = shopOf(name);
    const { zones } = this.#ports.world.dns;
    if (zones.zoneOf(zone) !== zone) zones.register(zone);
    const shop = await this.#at(async ({ container }) => {
      const access = container.get(AccessKey);
      const { account, key } = await access.createAccount({ name, email: ownerOf(name), plan });
      const project = await container.get(SitesKey).startProject(account.id, name);
      const { id, slug } = project;
      return {
        name,
        accountId: account.id,
        keyId: key.id,
        key: key.secret,
        project: { id, slug, accountId: account.id },
        webhookId: undefined,
        secrets: [],
      };
    });
    this.shops.set(name, shop);
    await this.#do(shop, 'deploys', []);
    return shop;
  }

  /** Does what a step says, and retries while the service does not answer. Never rejects. */
  async act(name: ShopName, [verb = '', ...objects]: readonly string[]): Promise<void> {
    for (let tried = 1; ; tried++) {
      try {
        await this.#do(await this.#shopOf(name), verb, objects);
        this.#ports.onAnswer?.(name, [verb, ...objects], 'done');
        return;
      } catch (error: unknown) {
        if (isFault(error)) this.faults.push({ owner: name, verb, error: String(error) });
        if (error instanceof DomainError || tried === tries) {
          const outcome = error instanceof DomainError ? String(error.code) : 'no answer';
          this.#ports.onAnswer?.(name, [verb, ...objects], outcome);
          this.#ports.note(name, `${verb} ${objects.join(' ')}: ${String(error)}`);
          return;
        }
      }
      await this.#pause(patienceMs);
    }
  }

  async #do(shop: Shop, verb: string, objects: readonly string[]): Promise<unknown> {
    const { accountId, project } = shop;
    const [host = '', value = ''] = objects;
    switch (verb) {
      case 'adds':
        return this.#add(shop, host);
      case 'mends':
        return this.#mend(shop, host);
      case 'removes':
        return this.#domains(
          shop,
          async (domains, { domain }) => {
            const { id } = await domains.removeDomain(domain);
            this.acknowledged.push({ kind: 'removal', id, host, at: this.#ports.time.now });
          },
          host,
        );
      case 'verifies':
        return this.#domains(shop, (domains, { domain }) => domains.verifyDomain(domain), host);
      case 'prefers':
        return this.#domains(shop, (domains) => domains.choosePrimary(project.id, host));
      case 'publishes':
        return this.#edit(shop, host, (records) => {
          this.#dns.publish(records, value === '' ? undefined : Number(value));
        });
      case 'proves':
        return this.#edit(shop, host, (records) => {
          this.#dns.publish(records.filter(({ purpose }) => purpose !== 'route'));
        });
      case 'delegates':
        return this.#edit(shop, host, (records) => {
          this.#dns.delegate(records);
        });
      case 'mistakes':
        return this.#edit(shop, host, (records) => {
          this.#dns.mistake(records, value as Mistake);
        });
      case 'unpublishes':
        return this.#edit(shop, host, (records) => {
          this.#dns.unpublish(records);
        });
      case 'allows':
        this.#dns.allow(host, value);
        return undefined;
      case 'deploys':
        return this.#at(
          ({ container }) =>
            container.get(SitesKey).deploySite(project, {
              upload: host || 'site',
              madeBy: 'operator',
              message: undefined,
            }),
          // Other uploads go through the command line.
          host === '' ? shop : undefined,
        );
      case 'enters':
      case 'drops':
      case 'shares':
      case 'opens':
        return this.#usePages(shop, verb, host);
      case 'looks':
        return this.#lookAtProject(shop);
      case 'takes':
        return this.#at(({ container }) =>
          container.get(AccessKey).setPlan(accountId, host as 'pro'),
        );
      case 'rotates':
        return this.#at(async ({ container }) => {
          const issued = await container.get(AccessKey).rotateApiKey(shop.keyId, '24h', accountId);
          shop.key = issued.secret;
        }, shop);
      case 'listens':
        return this.#listen(shop);
      case 'turns':
        return this.#turnSecret(shop);
      case 'sells':
        return this.#sell(shop);
      case 'invites':
        return this.#at(({ container }) => container.get(AccessKey).invite(accountId, host), shop);
      case 'forgets':
        return this.#forget(shop);
      case 'deletes':
        return this.#delete(shop, host);
      case 'restores':
        return this.#restore(shop, host);
      case 'bursts':
        return this.#burst(shop, Number(host));
      default:
        throw new Error(`no owner ${verb}`);
    }
  }

  async #edit(
    shop: Shop,
    host: string,
    edit: (records: readonly DnsRecord[]) => void,
  ): Promise<void> {
    const records = await this.#domains(
      shop,
      (_domains, view) => Promise.resolve(view.records),
      host,
    );
    edit(records);
  }

  /** Acts like an owner who looks after some time: adds a missing name again and corrects its records. */
  async #mend(shop: Shop, host: string): Promise<void> {
    const known = await this.#at(
      ({ container }) => container.get(DomainsKey).listDomains(shop.project.id),
      shop,
    );
    const isThere = known.some((one) => one.host === host && one.state !== 'removed');
    if (!isThere) await this.#add(shop, host);
    await this.#edit(shop, host, (records) => {
      this.#dns.publish(records);
    });
  }

  #add(shop: Shop, host: string): Promise<void> {
    const { zones } = this.#ports.world.dns;
    const zone = zoneOf(host);
    if (/^[a-z0-9-]{1,63}\.test$/.test(zone) && zones.zoneOf(zone) !== zone) zones.register(zone);
    return this.#domains(shop, async (domains) => {
      const { id } = await domains.addDomain(shop.project, host);
      this.acknowledged.push({ kind: 'domain', shop: shop.name, id, host });
    });
  }

  async #listen(shop: Shop): Promise<void> {
    const address = receiverOf(shop.name);
    await this.#at(async ({ container }) => {
      const draft = { address, kinds: ownersKinds };
      const { webhook, secret } = await container
        .get(WebhookCallsKey)
        .addWebhook(shop.accountId, draft);
      shop.webhookId = webhook.id;
      shop.secrets = [secret];
      this.#ports.world.receivers.tell(address, shop.secrets);
    }, shop);
  }

  async #turnSecret(shop: Shop): Promise<void> {
    const { webhookId, accountId } = shop;
    if (webhookId === undefined) return;
    await this.#at(async ({ container }) => {
      const { secret } = await container
        .get(WebhookCallsKey)
        .rotateWebhookSecret({ webhookId, accountId }, '24h');
      shop.secrets = [secret, ...shop.secrets.slice(0, 1)];
      this.#ports.world.receivers.tell(receiverOf(shop.name), shop.secrets);
    }, shop);
  }

  async #sell(shop: Shop): Promise<void> {
    const body = JSON.stringify({
      name: 'Rex',
      categoryId: 1,
      status: 'available',
    });
    const answer = await this.#call(shop, { method: 'POST', path: '/v1/pets', body });
    const { id } = (answer.body ?? {}) as { readonly id?: bigint };
    if (answer.status === 201 && id !== undefined)
      this.acknowledged.push({ kind: 'pet', shop: shop.name, id });
    else if (answer.status === 503) throw new NoAnswer('the service is busy');
    else if (answer.status >= 500) throw new Error(`answered ${String(answer.status)}`);
  }

  async #burst(shop: Shop, count: number): Promise<void> {
    const at = this.#ports.time.now;
    const calls = Array.from({ length: count }, () =>
      this.#call(shop, { path: '/v1/pets?limit=1' }),
    );
    this.bursts.push({ shop: shop.name, at, answers: await Promise.all(calls) });
  }

  /** A person who forgot the password chooses another one, by a link that was mailed or that the operator made. */
  async #forget({ name }: Shop): Promise<void> {
    const from = { network: '192.0.2.0/24', browser: 'a browser', device: undefined } as const;
    const email = ownerOf(name);
    await this.#at(({ container }) =>
      container.get(AccessKey).askForLink({ email, wants: 'new_password' }, from),
    );
    await this.#at(async ({ container }) => {
      const access = container.get(AccessKey);
      const { secret } = await access.signInLinkFor(email);
      const started = await access.signInByLink(secret, from);
      const signedIn = await access.findSession(started.secret);
      const wanted = `a password for ${name} at ${String(this.#ports.time.now)}`;
      if (signedIn) await access.choosePassword(signedIn, { current: '', wanted });
    });
  }

  /** @param what `account`; any other word means the project */
  async #delete(shop: Shop, what: string): Promise<void> {
    const { accountId, project } = shop;
    const isAccount = what === 'account';
    await this.#at<unknown>(
      ({ container }) =>
        isAccount
          ? container.get(AccessKey).deleteAccount(accountId)
          : container.get(SitesKey).deleteProject(project),
      shop,
    );
    const id = isAccount ? accountId : project.id;
    this.acknowledged.push({ kind: 'deletion', shop: shop.name, id });
  }

  /** @param what `account`, which the operator restores; any other word means the project */
  #restore(shop: Shop, what: string): Promise<unknown> {
    const { accountId, project } = shop;
    if (what === 'account')
      return this.#at(({ container }) => container.get(AccessKey).restoreAccount(accountId));
    return this.#at(({ container }) => container.get(SitesKey).restoreProject(project), shop);
  }

  /** Checks that pages agree with the stored state. */
  async #usePages(
    shop: Shop,
    verb: 'enters' | 'drops' | 'shares' | 'opens',
    host: string,
  ): Promise<void> {
    const { now } = this.#ports.time;
    await this.#at(async (api) => {
      if (verb === 'shares') return this.#pages.share(api, shop, host, now);
      if (verb === 'opens') return this.#pages.open(api, shop, host, now);
      const isDone = await this.#pages[verb](api, shop, host);
      if (!isDone) return;
      const { id } = await domainsOf(api).getDomain(shop.project.id, host);
      const done = { id, host, at: this.#ports.time.now };
      if (verb === 'enters') this.acknowledged.push({ kind: 'domain', shop: shop.name, ...done });
      else this.acknowledged.push({ kind: 'removal', ...done });
    });
  }

  /** Visits the project page, which says what the certificate of the project's own host waits for. */
  async #lookAtProject({ accountId, project: { slug } }: Shop): Promise<void> {
    const hold = await this.#at(async ({ container }) => {
      const { servedDeployId } = await container.get(SitesKey).getSite(slug);
      return container.get(DomainsKey).showOwnHold({ accountId, slug, servedDeployId });
    });
    if (hold) this.#ports.onHold?.(hold.reason);
  }

  #call({ key }: Shop, call: Omit<Parameters<typeof callApi>[1], 'key'>): Promise<Answer> {
    return this.#at(({ container }) => callApi(container, { ...call, key }));
  }

  #domains<T>(
    shop: Shop,
    work: (
      domains: ReturnType<typeof domainsOf>,
      view: { readonly domain: CustomDomain; readonly records: readonly DnsRecord[] },
    ) => Promise<T>,
    host?: string,
  ): Promise<T> {
    return this.#at(async (api) => {
      const domains = domainsOf(api);
      if (host === undefined) return work(domains, nothing);
      return work(
        domains,
        await domains.showDomain(await domains.getDomain(shop.project.id, host)),
      );
    }, shop);
  }

  /** Runs work in the process that serves owners, like its dashboard. @throws Error if no answer comes */
  async #at<T>(work: (api: SimulatedProcess) => Promise<T>, shop?: Shop): Promise<T> {
    const { time, api } = this.#ports;
    const serving = api();
    if (!serving) throw new NoAnswer('the service is down');
    const actor = shop ? (`person:${ownerOf(shop.name)}` as const) : 'operator';
    const answer = handed(time, serving.actor, () =>
      serving.container.get(Acting).run(actor, () => work(serving)),
    );
    const late = this.#pause(patienceMs).then(() => {
      throw new NoAnswer('no answer came');
    });
    return Promise.race([answer, late]);
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#ports.time.after(ms, resolve);
    });
  }
}

const domainsOf = ({ container }: SimulatedProcess) => container.get(DomainsKey);

const nothing = {
  get domain(): never {
    throw new Error('no host was named');
  },
  records: [],
};
