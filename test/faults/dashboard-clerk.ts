import { domainsPath, once, upload } from '../attacks/ground.ts';
import { DashboardVisitor, type PageAnswer } from '../support/dashboard/visitor.ts';
import { tgzOf } from '../support/sites/archive-bytes.ts';
import { answerOf, type LoadRecord } from './load-record.ts';

export interface ClerkOf {
  readonly cookie: string;
  readonly slug: string;
}

interface Wish {
  readonly what: 'sell' | 'add a domain' | 'upload';
  readonly subject: string;
  readonly send: (visitor: DashboardVisitor) => Promise<PageAnswer>;
  /** Whether this may be refused if the answer to an earlier attempt was lost. */
  readonly isOnceOnly: boolean;
}

/** A dashboard user who sells animals, adds domains and uploads bad archives, and resends each form until it is answered. */
export class DashboardClerk {
  readonly sold: number[] = [];
  readonly domains: string[] = [];
  refused = 0;
  readonly animals: number[] = [];
  readonly #of: ClerkOf;
  readonly #label: string;
  readonly #record: LoadRecord;
  #count = 0;
  #wish: Wish | undefined;
  #isRepeated = false;

  constructor(of: ClerkOf, label: string, record: LoadRecord) {
    this.#of = of;
    this.#label = label.replaceAll(' ', '-');
    this.#record = record;
  }

  get isInDoubt(): boolean {
    return this.#wish !== undefined;
  }

  /** Sends the next form, or resends the one in doubt. @returns whether it succeeded */
  async act(origin: string): Promise<boolean> {
    this.#wish ??= this.#next();
    if (this.#wish === undefined) return true;
    const { send, isOnceOnly } = this.#wish;
    const asked = this.#record.ask('clerk', origin);
    const visitor = new DashboardVisitor(origin, this.#of.cookie);
    const page = await send(visitor).catch(() => undefined);
    const isRefusedRepeat = isOnceOnly && this.#isRepeated && page?.status === 422;
    const isDone = isCarriedOut(page) || isRefusedRepeat;
    const told = page ? answerOf(page.status, page.headers, page.text) : 'no answer';
    this.#record.answer(asked, isDone ? '303' : told);
    if (isDone) this.#done(this.#wish);
    else this.#isRepeated = true;
    return isDone;
  }

  #next(): Wish | undefined {
    this.#count += 1;
    if (this.#count % 4 === 0) return this.#addDomain(`www.${this.#label}-${this.#count}.test`);
    if (this.#count % 4 === 2) return this.#uploadBadArchive();
    const id = this.animals.shift();
    if (id === undefined) return undefined;
    const fields = { once: once() };
    const send = (visitor: DashboardVisitor) =>
      visitor.post(`/dashboard/animals/${id}/sell`, fields);
    return { what: 'sell', subject: String(id), send, isOnceOnly: true };
  }

  #addDomain(domain: string): Wish {
    const fields = { domain, once: once() };
    const send = (visitor: DashboardVisitor) => visitor.post(domainsPath(this.#of.slug), fields);
    return { what: 'add a domain', subject: domain, send, isOnceOnly: true };
  }

  /** It is refused after its first file is stored, so there are files to remove. */
  #uploadBadArchive(): Wish {
    const { slug } = this.#of;
    const send = async (visitor: DashboardVisitor) => {
      const page = { name: 'index.html', content: '<h1>Shop</h1>' };
      return upload(visitor, slug, await tgzOf(page, { name: '../index.html', content: '' }));
    };
    return { what: 'upload', subject: slug, send, isOnceOnly: false };
  }

  #done({ what, subject }: Wish): void {
    if (what === 'sell') this.sold.push(Number(subject));
    else if (what === 'add a domain') this.domains.push(subject);
    else this.refused += 1;
    this.#record.acknowledge();
    this.#wish = undefined;
    this.#isRepeated = false;
  }
}

/** Other redirects lead to the sign-in page. */
const isCarriedOut = (page: PageAnswer | undefined): boolean =>
  page?.status === 303 && /[?&](?:done|added)=|^\/dashboard\/projects\//.test(page.location ?? '');
