import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from '@jest/globals';
import { untilSeenTo } from '../../lab/going-live.ts';
import { SecureVisitor } from '../../lab/secure-visitor.ts';
import { json } from '../../lab/shop.ts';
import { startTryOut, type TryOut } from '../../lab/try-out.ts';
import { until } from '../until.ts';
import { ClickingOwner, press } from './clicking-owner.ts';
import type { TestPage } from './page.ts';

const main = join(import.meta.dirname, '../../../src/main.ts');
const run = promisify(execFile);

/** A service on its first day, where the operator only invites people, and everything around it. */
export class FirstDay {
  readonly lab: TryOut;
  readonly #visitor: SecureVisitor;
  readonly #hosts = new Set<string>();
  /** Each new set of records replaces the previous ones of the project. */
  readonly #zones = new Map<string, string>();

  private constructor(lab: TryOut, visitor: SecureVisitor) {
    this.lab = lab;
    this.#visitor = visitor;
  }

  static async begin(): Promise<FirstDay> {
    const lab = await startTryOut();
    return new FirstDay(lab, new SecureVisitor(lab.edgePort, await readFile(lab.root, 'utf8')));
  }

  /**
   * Runs from the mail that invites the owner of a new account to a deploy from their laptop and the end of their
   * domain.
   */
  async live(slug: string, page: TestPage, javaScript: boolean): Promise<void> {
    const host = `www.${slug}.test`;
    this.#hosts.add(host);
    const invitation = await this.#invite(slug);
    const owner = new ClickingOwner(page, this.lab, { javaScript, wait: this.#wait });

    await page.goto(invitation);
    await press(page, 'Sign in');
    await page.label('New password').fill('seven quiet tortoises');
    await press(page, 'Save password');
    await page.role('status').words('The password is saved').isShown();
    await page.role('link', 'Projects').click();
    await page.role('heading', 'First steps').isShown();
    await owner.publish(slug);

    await page.role('link', 'Domains').click();
    const zone = await owner.add(slug, host);
    this.#create(slug, `$ORIGIN ${slug}.test.\nwww 60 IN A 203.0.113.7\n`);
    await press(page, 'Verify');
    await owner.seesText('203.0.113.7');
    expect(await page.css('main').exactly('added, awaiting DNS').count()).not.toBe(0);
    this.#create(slug, zone);
    await owner.verify();
    await owner.seesState('live');
    await this.#serves(host, `<h1>${slug}</h1>`);

    const deployed = await this.#deployFromLaptop(slug, await owner.makeDeployKey(slug));
    expect(deployed.deploy).toMatchObject({ number: 2, status: 'succeeded' });
    await this.#serves(host, '<h1>From a laptop</h1>');
    await page.goto(`${this.lab.service.origin}/dashboard/projects/${slug}`);
    await page.words('Visitors get deploy 2').isShown();
    await page.role('row').has('From a laptop').isShown();
    await page.role('link', 'Projects').click();
    await page.role('row').has(host).isShown();
    expect(await page.role('heading', 'First steps').count()).toBe(0);

    await owner.remove(slug, host);
    expect(await this.#visitor.refusal(host)).toBeDefined();
  }

  close(): Promise<void> {
    return this.lab.close();
  }

  /** Does everything that the operator does. @returns the link in the mail */
  async #invite(name: string): Promise<string> {
    const email = `owner@${name}.example`;
    const { account } = await json<{ account: { id: string } }>(this.lab.run, [
      ...['account', 'create', '--name', name, '--email', email, '--plan', 'pro'],
    ]);
    await json(this.lab.run, ['user', 'invite', '--account', account.id, '--email', email]);
    const mail = await until(`${email} is invited`, () =>
      this.lab.mails.find(({ to }) => to?.some(({ address }) => address === email)),
    );
    expect(mail.subject).toBe(`[${name}] You are invited to ${name}`);
    return /http:\S+\/dashboard\/sign-in\/\S+/.exec(mail.text ?? '')?.[0] ?? '';
  }

  /** With scripts the page updates. Advances the clock to a domain's next check. */
  readonly #wait = (what: string, isShown: () => Promise<boolean>): Promise<true> => {
    const { lab } = this;
    const states = ['added', 'verified'] as const;
    return untilSeenTo(what, { lab, clock: lab.clock, hosts: [...this.#hosts], states }, isShown);
  };

  #create(slug: string, zone: string): void {
    this.#zones.set(slug, zone);
    expect(this.lab.createRecords([...this.#zones.values()].join('\n'))).toEqual([]);
  }

  #serves(host: string, content: string): Promise<boolean> {
    return until(`${host} serves ${content}`, async () => {
      const visit = await this.#visitor.get(host).catch(() => undefined);
      return visit?.status === 200 && visit.body === content;
    });
  }

  /** Deploys with only the program, an address and a key. */
  async #deployFromLaptop(slug: string, key: string): Promise<{ deploy: object }> {
    const laptop = await mkdtemp(join(tmpdir(), 'animal-store-laptop-'));
    await writeFile(join(laptop, 'index.html'), '<h1>From a laptop</h1>');
    const to = ['--project', slug, '--to', this.lab.service.origin];
    const args = ['deploy', '.', ...to, '--message', 'From a laptop', '--json'];
    const { stdout } = await run(process.execPath, [main, ...args], {
      cwd: laptop,
      env: { PATH: process.env['PATH'], ANIMAL_STORE_KEY: key },
    });
    await rm(laptop, { recursive: true });
    return JSON.parse(stdout) as { deploy: object };
  }
}
