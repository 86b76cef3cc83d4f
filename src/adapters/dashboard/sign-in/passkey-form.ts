import { type Child, html, type Html, nothing } from '../frame/html.ts';
import { assetPath } from '../frame/responses.ts';

interface PasskeyForm {
  readonly purpose: 'make' | 'show';
  readonly action: string;
  readonly origin: string | undefined;
  readonly options: string | undefined;
  readonly label: string;
  readonly fields?: Child;
}

export const passkeyForm = (asked: PasskeyForm): Html => {
  const { purpose, action, origin, options, label, fields } = asked;
  if (origin === undefined || options === undefined) return nothing;
  return html`<form method="post" action="${action}" data-passkey="${purpose}" data-origin="${origin}" data-options="${options}" hidden>
      ${fields}
      <input type="hidden" name="shown" value="">
      <p class="error" data-problem role="alert" hidden>That did not work. Try again, or use another way.</p>
      <div><button type="button" class="main" data-ask>${label}</button></div>
    </form>
    <script type="module" src="${assetPath('passkeys.js')}"></script>`;
};

export const whereElse = (passkeyOrigin: string | undefined, origin: string): Html => {
  if (passkeyOrigin === origin) {
    return html`<noscript><p class="hint">Passkeys need JavaScript.</p></noscript>`;
  }
  return passkeyOrigin === undefined
    ? html`<p class="hint">Passkeys need a host name, and this dashboard is at an IP address. Use an authenticator app.</p>`
    : html`<p class="hint" data-elsewhere>Passkeys need a host name, not an IP address such as ${new URL(origin).hostname}. To use one, open the dashboard at <a href="${passkeyOrigin}/dashboard">${new URL(passkeyOrigin).host}</a>.</p>`;
};
