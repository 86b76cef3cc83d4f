import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTransport } from 'nodemailer';
import type { TestPage } from '../support/dashboard/page.ts';
import { renderMail, type RenderedMail } from '../../src/adapters/mail/render-mail.ts';
import { startMailbox, type Mailbox } from '../lab/mail/mailbox.ts';
import { browserStartMs, startBrowser, type TestBrowser } from '../support/dashboard/browser.ts';
import { everyKind } from '../support/notifications.ts';
import { until } from '../support/until.ts';

const envelope = { account: 'Happy Paws – Zoë', origin: 'https://store.example' };
const [live] = everyKind();
const mail = renderMail({ ...live!, ...envelope });

let mailbox: Mailbox;
let browser: TestBrowser;
beforeAll(async () => {
  mailbox = await startMailbox();
  browser = await startBrowser(new URL(mailbox.url).origin);
}, browserStartMs);
afterAll(async () => {
  await browser.closePages();
  await mailbox.close();
});

const send = async (one: Partial<RenderedMail>): Promise<void> => {
  const transport = createTransport(mailbox.smtpUrl);
  const from = 'Animal Store <lab@platform.test>';
  await transport.sendMail({ from, to: 'keeper@zoo.example', ...one });
  transport.close();
};

const open = async (): Promise<TestPage> => {
  const page = await browser.open();
  await page.goto(mailbox.url);
  return page;
};

/** What a script says of the mail, which runs none of its own. */
const inMail = <T>(page: TestPage, script: string): Promise<T> =>
  until(`the mail answers ${script}`, async () => {
    const mail = page.raw.frames().find((one) => one.url().endsWith('/content'));
    return (await mail?.evaluate(script).catch(() => undefined)) as T | undefined;
  });

const placeOf = (selector: string): string =>
  `(({ x, y }) => [x, y])(document.querySelector('${selector}').getBoundingClientRect())`;

test('the lab shows each mail that was sent, as HTML, as on a phone, as text and in source', async () => {
  const page = await open();
  await page.words('No mail yet.').isShown();
  await send(mail);
  await page.raw.reload();
  await page.words('to keeper@zoo.example').isShown();
  await page.role('link', mail.subject).click();
  await inMail(page, "document.body.innerText.includes('shop.birds.test is live')");
  await page.role('link', 'As phone').click();
  await inMail(page, "document.body.innerText.includes('Show the domain')");
  expect(await page.evaluate('document.querySelector("iframe").clientWidth')).toBe(360);
  await page.role('link', 'Text').click();
  expect((await page.css('pre').read('textContent')).trim()).toBe(mail.text.trim());
  await page.role('link', 'Source').click();
  await page.words('Content-Type: multipart/alternative').isShown();
});

test('a mail in the lab loads nothing and runs nothing', async () => {
  await send({ subject: 'Hostile', html: '<script>alert(1)</script>' });
  const { headers } = await fetch(`${mailbox.url}2/content`);
  expect(headers.get('Content-Security-Policy')).toBe(
    "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'unsafe-inline'",
  );
});

test('the links of a mail open beside it', async () => {
  const link = `${mailbox.url}1/text`;
  await send({ subject: 'With a link', html: `<head></head><a href="${link}">Leave</a>` });
  const page = await open();
  await page.role('link', 'With a link').click();
  const opened = page.happens('popup');
  const [x, y] = await inMail<readonly [number, number]>(page, placeOf('a'));
  const [left, top] = await page.evaluate<readonly [number, number]>(placeOf('iframe'));
  await page.raw.mouse.click(left + x + 1, top + y + 1);
  const popup = await opened;
  await until('it is there', () => popup?.url() === link);
});
