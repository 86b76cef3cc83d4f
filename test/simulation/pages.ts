import { AccessKey, DomainsKey, SitesKey } from '../../src/app/keys.ts';
import { ownerOf, type ShopName } from './shops.ts';
import type { SimulatedProcess } from './fleet.ts';
import { callApi, type Answer, type Call } from './world/requests.ts';

export interface Shop {
  readonly name: ShopName;
  readonly accountId: string;
  readonly project: { readonly id: string; readonly accountId: string; readonly slug: string };
  keyId: string;
  key: string;
  webhookId: string | undefined;
  secrets: readonly string[];
}

type Api = Pick<SimulatedProcess, 'container'>;

/** No answer came, so the owner tries again later. */
export class NoAnswer extends Error {}

/** A link that shows a page about one domain to visitors who are not signed in. */
interface SharedLink {
  readonly path: string;
  readonly domainId: string;
  readonly madeAt: number;
}

const lasting = 30 * 24 * 60 * 60_000;
/** Twice the largest difference between the process's clock and the true time. */
const skewMs = 10 * 60_000;

interface FormOfPage {
  readonly page: string;
  readonly form: string;
  readonly fields?: Readonly<Record<string, string>>;
}

/** The dashboard as browsers use it, called at its handler. Each shop has one browser, which keeps its cookie. */
export class Pages {
  readonly #cookies = new Map<string, string>();
  readonly #links = new Map<string, SharedLink>();

  async enters(api: Api, shop: Shop, host: string): Promise<boolean> {
    const answer = await this.#post(api, shop, {
      page: '',
      form: '',
      fields: { domain: host },
    });
    return isDone(answer);
  }

  async drops(api: Api, shop: Shop, host: string): Promise<boolean> {
    const answer = await this.#post(api, shop, {
      page: `/${host}/remove`,
      form: `/${host}/remove`,
    });
    return isDone(answer);
  }

  async share(api: Api, shop: Shop, host: string, now: number): Promise<void> {
    const { id: domainId } = await domainOf(api, shop, host);
    const { status, text } = await this.#post(api, shop, {
      page: `/${host}`,
      form: `/${host}/links`,
    });
    const [path] = /\/dashboard\/shared-domain\/[\w-]+/.exec(text) ?? [];
    if (status === 201 && path === undefined) throw new Error('the page shows no link');
    if (path !== undefined) this.#links.set(host, { path, domainId, madeAt: now });
  }

  /** Opens the last link to a name. @throws Error if it shows a domain after the link's end, or does not before */
  async open(api: Api, shop: Shop, host: string, now: number): Promise<void> {
    const link = this.#links.get(host);
    if (!link) return;
    const wasInService = await isInService(api, shop);
    const before = await domainOf(api, shop, link.domainId);
    const { status } = await callApi(api.container, { path: link.path, from: '198.51.100.7' });
    const after = await domainOf(api, shop, link.domainId);
    const isStillInService = await isInService(api, shop);
    const age = now - link.madeAt;
    const isDeleted = !wasInService && !isStillInService;
    const hasEnded = before.state === 'removed' || age > lasting + skewMs || isDeleted;
    const mayWork =
      wasInService && isStillInService && after.state !== 'removed' && age < lasting - skewMs;
    if (status === 503) throw new NoAnswer('the service is busy');
    if (status === 200 && hasEnded) throw new Error('a link works after its end');
    if (status === 404 && mayWork) throw new Error('a link does not work before its end');
    if (status !== 200 && status !== 404) throw new Error(`a link is answered ${String(status)}`);
  }

  async #post(api: Api, shop: Shop, { page, form, fields = {} }: FormOfPage): Promise<Answer> {
    const loaded = await this.#ask(api, shop, page);
    const [, once = ''] = /name="once" value="([^"]*)"/.exec(loaded.text) ?? [];
    const body = new URLSearchParams({ ...fields, once }).toString();
    return this.#ask(api, shop, form, { method: 'POST', body });
  }

  /** Signs in if necessary. @throws NoAnswer; Error for an answer that no page should give */
  async #ask(
    api: Api,
    shop: Shop,
    place: string,
    call: Pick<Call, 'method' | 'body'> = {},
  ): Promise<Answer> {
    const path = `/dashboard/projects/${shop.project.slug}/settings/domains${place}`;
    const send = (): Promise<Answer> =>
      callApi(api.container, {
        path,
        ...call,
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          'sec-fetch-site': 'same-origin',
          cookie: this.#cookies.get(shop.name) ?? '',
        },
      });
    const first = this.#cookies.has(shop.name) ? await send() : undefined;
    const answer = first && !isSignedOut(first) ? first : await this.#signIn(api, shop).then(send);
    if (answer.status === 503) throw new NoAnswer('the service is busy');
    if (answer.status >= 500 || isSignedOut(answer))
      throw new Error(`${path} is answered ${String(answer.status)}`);
    return answer;
  }

  /** Signs in by a link from the operator. */
  async #signIn({ container }: Api, { name }: Shop): Promise<void> {
    const { secret } = await container.get(AccessKey).signInLinkFor(ownerOf(name));
    const answer = await callApi(container, { path: `/dashboard/sign-in/${secret}` });
    const cookie = answer.headers.getSetCookie().map((line) => line.split(';')[0] ?? '');
    if (answer.status === 503) throw new NoAnswer('the service is busy');
    if (answer.status !== 303 || cookie.length === 0)
      throw new Error(`the link to sign in is answered ${String(answer.status)}`);
    this.#cookies.set(name, cookie.join('; '));
  }
}

/** Pages of a deleted account redirect to the page where it can be restored. */
const isDone = ({ status, headers }: Answer): boolean =>
  status === 303 && headers.get('location')?.startsWith('/dashboard/projects/') === true;

const isSignedOut = ({ status, headers }: Answer): boolean =>
  status === 303 && headers.get('location')?.includes('/dashboard/sign-in') === true;

const domainOf = ({ container }: Api, { project }: Shop, key: string) =>
  container.get(DomainsKey).getDomain(project.id, key);

const isInService = async ({ container }: Api, { accountId, project }: Shop): Promise<boolean> =>
  (await container.get(SitesKey).listProjects(accountId)).some(({ id }) => id === project.id);
