import * as v from 'valibot';
import { renderSVG } from 'uqr';
import {
  hasFactor,
  type Passkey,
  recoveryCodes,
  type SecondFactor,
} from '../../../access/domain/second-factor.ts';
import type { OfferedApp } from '../../../access/use-cases/second-factor.ts';
import { isName } from '../../../kernel/text.ts';
import { buttonForm, confirmedForm, field, formError } from '../frame/form-parts.ts';
import { html, type Html, safeHtml } from '../frame/html.ts';
import { rowList } from '../frame/list-parts.ts';
import { copyable, day, head, secretCard, time } from '../frame/parts.ts';
import { factorAppPath, secondFactorPath } from '../frame/paths.ts';
import {
  bareForm,
  form,
  type Form,
  type Outcome,
  refusalOf,
  type Screen,
} from '../frame/screen.ts';
import { filled, shownOnce } from '../frame/sent-form.ts';
import type { DashboardPorts } from '../ports.ts';
import { passkeyForm, whereElse } from '../sign-in/passkey-form.ts';

type Ports = Pick<DashboardPorts, 'access' | 'settings' | 'ids'>;

export const secondFactorScreen = (ports: Ports): Screen => ({
  path: secondFactorPath,
  section: 'account',
  live: false,
  isForSetUp: true,
  notices: {
    added: 'It is set up. From now on each sign-in asks for it.',
    removed: 'It is removed.',
    [shownOnce]:
      'The codes were made already, and shown then. If you did not keep them, make new ones.',
  },
  show: async (visit, refusal, secret) => {
    const { signedIn, now } = visit;
    const { access } = ports;
    const factor = await access.findFactor(signedIn.person.id);
    const options = await access.passkeyOptions(signedIn, 'make');
    const isDemanded = signedIn.account.factorDemandedAt !== undefined;
    const refused = ['passkey', 'remove-factor', 'recovery'].map((name) =>
      refusalOf(refusal, name),
    );
    const content = html`
      ${head('Second factor', leadOf(factor, isDemanded))}
      ${secret}
      ${formError(refused.find((one) => one !== undefined))}
      ${hasFactor(factor) && methods(factor, now)}
      <section class="card" id="add">
        <h2>${hasFactor(factor) ? 'Add another way' : 'Choose one'}</h2>
        <div class="row between"><span><strong>Authenticator app</strong><br><span class="hint">An app on your phone shows six digits. ${factor.app && 'A new one replaces the one that you have.'}</span></span>
          <a class="button" href="${factorAppPath}">${factor.app ? 'Replace the app' : 'Set up an app'}</a></div>
        <div class="stack"><span><strong>Passkey</strong><br><span class="hint">Your fingerprint, your face, the PIN of a device or a security key.</span></span>
          ${passkeyForm({
            purpose: 'make',
            action: `${secondFactorPath}/passkeys`,
            label: 'Add a passkey',
            origin: access.passkeyOrigin,
            options,
            fields: field({
              label: 'Name of the passkey',
              name: 'name',
              maxlength: 100,
              placeholder: 'Laptop',
            }),
          })}
          ${whereElse(access.passkeyOrigin, ports.settings.origin)}</div>
      </section>
      ${hasFactor(factor) && recoverySection(factor, ports.ids.next('form'))}`;
    return { title: 'Second factor', content };
  },
  forms: [passkeyAdding(ports), removing(ports), renewing(ports)],
});

const leadOf = (factor: SecondFactor, isDemanded: boolean): Html => {
  if (hasFactor(factor))
    return html`Each sign-in to this account asks for it, after your password or link.`;
  return isDemanded
    ? html`This account requires a second factor of everybody. Set one up to continue.`
    : html`Somebody who learns your password or reads your mail still cannot sign in to this account.`;
};

interface Method {
  readonly id: string;
  readonly name: string;
  readonly since: Date;
  readonly usedAt: Date | undefined;
}

const methodsOf = ({ app, passkeys }: SecondFactor): readonly Method[] => [
  ...(app ? [{ id: 'app', name: 'Authenticator app', since: app.since, usedAt: undefined }] : []),
  ...passkeys.map(({ id, name, createdAt, usedAt }: Passkey) => ({
    id,
    name,
    since: createdAt,
    usedAt,
  })),
];

const methods = (factor: SecondFactor, now: Date): Html => {
  const all = methodsOf(factor);
  return rowList(all, [
    ['Method', 'name', ({ name }) => name],
    ['Added', 'text', ({ since }) => day(since)],
    ['Last used', 'text', ({ usedAt }) => (usedAt ? time(usedAt, now) : '–')],
    ['Actions', 'actions', (method) => remove(method, all.length === 1)],
  ]);
};

const remove = ({ id, name }: Method, isLast: boolean): Html =>
  confirmedForm({
    id: `remove-${id}`,
    label: 'Remove',
    about: `Remove ${name}`,
    question: html`Remove <span class="name">${name}</span>?`,
    consequences: isLast
      ? 'It is your only second factor: your recovery codes also stop working, and a password or a link is then enough to sign in.'
      : 'You can no longer sign in with it.',
    confirm: 'Remove second factor',
    action: `${secondFactorPath}/${id}/remove`,
  });

const recoverySection = ({ recovery }: SecondFactor, once: string): Html =>
  html`<section class="card" id="recovery">
    <h2>Recovery codes</h2>
    <p>${recovery.length} of ${recoveryCodes.count} are left. Each works once in place of your second factor.</p>
    ${buttonForm(`${secondFactorPath}/recovery`, 'Make new recovery codes', { about: 'The old ones stop working', once })}
  </section>`;

const codesCard = (codes: readonly string[]): Html =>
  secretCard({
    id: 'secret-title',
    heading: 'Your recovery codes',
    advice: html`Keep them where you find them without your phone: printed, or in a password manager. Each signs you in once if your second factor is lost. <strong>They are not shown again.</strong>`,
    secret: codes.join('\n'),
    what: 'recovery codes',
    next: { to: secondFactorPath, label: 'I have kept them' },
  });

const outcome = (codes: readonly string[] | undefined): Outcome =>
  codes
    ? { title: 'Your recovery codes', status: 201, secret: codesCard(codes) }
    : { to: secondFactorPath, done: 'added' };

const passkeyAdding = ({ access }: Ports): Form =>
  form({
    name: 'passkey',
    operation: 'me.change_factor',
    showsSecret: true,
    path: `${secondFactorPath}/passkeys`,
    secrets: ['shown'],
    schema: v.object({
      name: v.pipe(
        filled('Give the passkey a name.'),
        v.check((name) => isName(name, 100), 'A name has at most 100 characters, on one line.'),
      ),
      shown: v.pipe(v.string(), v.maxLength(10_000)),
    }),
    act: async ({ signedIn }, passkey) => outcome(await access.setUpPasskey(signedIn, passkey)),
  });

const removing = ({ access }: Ports): Form =>
  bareForm({
    name: 'remove-factor',
    operation: 'me.change_factor',
    path: `${secondFactorPath}/:method/remove`,
    act: async ({ signedIn, parameters: { method = '' } }) => {
      await access.removeFactor(signedIn, method);
      return { to: secondFactorPath, done: 'removed' };
    },
  });

const renewing = ({ access }: Ports): Form =>
  bareForm({
    name: 'recovery',
    operation: 'me.change_factor',
    showsSecret: true,
    path: `${secondFactorPath}/recovery`,
    once: true,
    act: async ({ signedIn }) => outcome(await access.renewRecoveryCodes(signedIn)),
  });

export const factorAppScreen = ({ access }: Ports): Screen => ({
  path: factorAppPath,
  section: 'account',
  live: false,
  isForSetUp: true,
  show: ({ signedIn }, refusal, secret) => {
    if (secret) return Promise.resolve({ title: 'Your recovery codes', content: secret });
    const refused = refusalOf(refusal, 'app');
    const token = refused?.values['token'];
    const offered =
      token === undefined ? access.offerApp(signedIn) : access.openOffer(signedIn, token);
    return Promise.resolve({
      title: 'Set up an authenticator app',
      content: html`<section class="card alone">
        <h1>Set up an authenticator app</h1>
        <ol class="bullets"><li>Scan the picture with the app on your phone, or type the secret into it.</li><li>Enter the six digits that it shows.</li></ol>
        ${picture(offered, `${signedIn.person.email} (${signedIn.account.name})`)}
        ${copyable(inFours(offered.secret), 'secret')}
        <form method="post" action="${factorAppPath}">
          ${formError(refused)}
          <input type="hidden" name="token" value="${offered.token}">
          ${field({ label: 'Code', name: 'code', autocomplete: 'one-time-code', inputmode: 'numeric', maxlength: 10, autofocus: true }, refused)}
          <button class="main">Set up</button>
        </form>
        <p class="hint"><a href="${secondFactorPath}">Cancel</a></p>
      </section>`,
    });
  },
  forms: [
    form({
      name: 'app',
      operation: 'me.change_factor',
      showsSecret: true,
      path: factorAppPath,
      field: 'code',
      schema: v.object({
        token: v.pipe(v.string(), v.maxLength(1000)),
        code: filled('Enter the six digits that the app shows.'),
      }),
      act: async ({ signedIn }, values) => outcome(await access.setUpApp(signedIn, values)),
    }),
  ],
});

const inFours = (secret: string): string => (secret.match(/.{4}/g) ?? []).join(' ');

const picture = ({ secret }: OfferedApp, whose: string): Html => {
  const label = encodeURIComponent(`Animal Store:${whose}`);
  const uri = `otpauth://totp/${label}?secret=${secret}&issuer=Animal%20Store`;
  return html`<div class="qr" role="img" aria-label="Picture of the secret, to scan">${safeHtml(renderSVG(uri, { border: 2 }))}</div>`;
};

export const factorSummary = (
  factorSince: Date | undefined,
): Html => html`<section class="card" id="second-factor">
    <div class="row between">
      <div><h2>Second factor</h2>
        <p class="hint">${factorSince ? html`On since ${day(factorSince)}: sign-ins ask for a code or a passkey too.` : 'Off: your password or a link is enough to sign in.'}</p></div>
      <a class="button" href="${secondFactorPath}">${factorSince ? 'Manage' : 'Set up'}</a>
    </div>
  </section>`;
