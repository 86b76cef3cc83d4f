// Creates or uses a passkey (WebAuthn) for forms that ask for one. Loaded only on their pages.

const bytesOf = (text) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0));

const textOf = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

const known = (credentials) => credentials?.map((one) => ({ ...one, id: bytesOf(one.id) }));

const ask = async ({ passkey, options }) => {
  const given = JSON.parse(options);
  const challenge = bytesOf(given.challenge);
  if (passkey === 'show') {
    const publicKey = { ...given, challenge, allowCredentials: known(given.allowCredentials) };
    return navigator.credentials.get({ publicKey });
  }
  const user = { ...given.user, id: bytesOf(given.user.id) };
  const excludeCredentials = known(given.excludeCredentials);
  return navigator.credentials.create({
    publicKey: { ...given, challenge, user, excludeCredentials },
  });
};

const sent = ({ id, rawId, type, response }) => {
  const parts = ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature'];
  const shown = parts
    .filter((part) => response[part])
    .map((part) => [part, textOf(response[part])]);
  return JSON.stringify({
    id,
    rawId: textOf(rawId),
    type,
    response: Object.fromEntries(shown),
    clientExtensionResults: {},
  });
};

const alreadyThere = 'This device already has one of your passkeys. Use another device.';

for (const form of document.querySelectorAll('form[data-passkey]')) {
  const button = form.querySelector('button[data-ask]');
  const problem = form.querySelector('[data-problem]');
  const unclear = problem.textContent;
  if (location.origin !== form.dataset.origin || !window.PublicKeyCredential) continue;
  form.hidden = false;
  document.querySelector('[data-elsewhere]')?.setAttribute('hidden', '');
  button.addEventListener('click', async () => {
    if (!form.reportValidity()) return;
    problem.hidden = true;
    try {
      form.elements.shown.value = sent(await ask(form.dataset));
      form.requestSubmit();
    } catch ({ name }) {
      // Otherwise the person cancelled, or the device lacks the passkey. Browsers do not say which.
      problem.textContent = name === 'InvalidStateError' ? alreadyThere : unclear;
      problem.hidden = false;
    }
  });
}
