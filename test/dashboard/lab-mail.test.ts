import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTransport } from 'nodemailer';
import type { Page } from 'playwright-core';
import { renderMail, type RenderedMail } from '../../src/adapters/mail/render-mail.ts';
import { startMailbox, type Mailbox } from '../lab/mail/mailbox.ts';
import { browserStartMs, startBrowser, type TestBrowser } from '../support/dashboard/browser.ts';
import { everyKind } from '../support/notifications.ts';

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
  await browser.close();
  await mailbox.close();
});

const send = async (one: Partial<RenderedMail>): Promise<void> => {
  const transport = createTransport(mailbox.smtpUrl);
  const from = 'Animal Store <lab@platform.test>';
  await transport.sendMail({ from, to: 'keeper@zoo.example', ...one });
  transport.close();
};

const open = async (): Promise<Page> => {
  const page = await browser.open();
  await page.goto(mailbox.url);
  return page;
};

test('the lab shows each mail that was sent, as HTML, as on a phone, as text and in source', async () => {
  const page = await open();
  await page.getByText('No mail yet.').waitFor();
  await send(mail);
  await page.reload();
  await page.getByText('to keeper@zoo.example').waitFor();
  await page.getByRole('link', { name: mail.subject }).click();
  const content = page.frameLocator('iframe');
  await content.getByRole('heading', { name: 'shop.birds.test is live' }).waitFor();
  await page.getByRole('link', { name: 'As phone' }).click();
  await content.getByRole('link', { name: 'Show the domain' }).waitFor();
  expect(await page.evaluate('document.querySelector("iframe").clientWidth')).toBe(360);
  await page.getByRole('link', { name: 'Text' }).click();
  expect((await page.locator('pre').textContent())?.trim()).toBe(mail.text.trim());
  await page.getByRole('link', { name: 'Source' }).click();
  await page.getByText('Content-Type: multipart/alternative').waitFor();
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
  await page.getByRole('link', { name: 'With a link' }).click();
  const opened = page.waitForEvent('popup');
  await page.frameLocator('iframe').getByRole('link', { name: 'Leave' }).click();
  expect((await opened).url()).toBe(link);
});
