import { domainsPath, once } from '../attacks/ground.ts';
import { DashboardVisitor, type PageAnswer } from '../support/dashboard/visitor.ts';
import { answerOf, type LoadRecord } from './load-record.ts';

export interface ClerkOf {
  /** `name=value` of a signed-in person. */
  readonly cookie: string;
  /** A project with a deploy, to which domains can be added. */
  readonly slug: string;
}

interface Wish {
  readonly what: 'sell' | 'add a domain';
  readonly subject: string;
  readonly path: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** A dashboard user who sells animals and adds domains, and resends a form until it is answered. */
export class DashboardClerk {
  readonly sold: number[] = [];
  readonly domains: string[] = [];
  /** Ids of animals to sell. */
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
    const { path, fields } = this.#wish;
    const asked = this.#record.ask('clerk', origin);
    const visitor = new DashboardVisitor(origin, this.#of.cookie);
    const sent = visitor.post(path, fields);
    const page = await sent.catch(() => undefined);
    // An animal is sold once: a form resent after a lost answer is told that it is sold.
    const isDone = isCarriedOut(page) || (this.#isRepeated && page?.status === 422);
    const told = page ? answerOf(page.status, page.headers, page.text) : 'no answer';
    this.#record.answer(asked, isDone ? '303' : told);
    if (isDone) this.#done(this.#wish);
    else this.#isRepeated = true;
    return isDone;
  }

  #next(): Wish | undefined {
    this.#count += 1;
    if (this.#count % 4 === 0) {
      const domain = `www.${this.#label}-${this.#count}.test`;
      const path = domainsPath(this.#of.slug);
      return { what: 'add a domain', subject: domain, path, fields: { domain, once: once() } };
    }
    const id = this.animals.shift();
    if (id === undefined) return undefined;
    const path = `/dashboard/animals/${id}/sell`;
    return { what: 'sell', subject: String(id), path, fields: { once: once() } };
  }

  #done({ what, subject }: Wish): void {
    if (what === 'sell') this.sold.push(Number(subject));
    else this.domains.push(subject);
    this.#record.acknowledge();
    this.#wish = undefined;
    this.#isRepeated = false;
  }
}

/** Other redirects lead to the sign-in page. */
const isCarriedOut = (page: PageAnswer | undefined): boolean =>
  page?.status === 303 && /[?&](?:done|added)=/.test(page.location ?? '');
