// "Try it" in the API reference. The page works without this script.

const element = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};

let serial = 0;
/** Creates a form field with its label. */
const field = (label, control) => {
  control.id = `try-${++serial}`;
  return element('p', {}, element('label', { htmlFor: control.id }, label), control);
};

/** Indents JSON without parsing numbers, so that no digit is lost. */
const indented = (text) => {
  if (!('rawJSON' in JSON)) return text;
  const keep = (_key, value, { source }) =>
    typeof value === 'number' ? JSON.rawJSON(source) : value;
  return JSON.stringify(JSON.parse(text, keep), null, 2);
};

const key = element('input', { type: 'password', autocomplete: 'off', spellcheck: false });

const inputFor = ({ schema }, schemas) => {
  const { enum: choices } = schemas[schema.$ref?.split('/').pop()] ?? schema;
  if (!choices) return element('input', { type: 'text', autocomplete: 'off' });
  return element('select', {}, ...['', ...choices].map((one) => element('option', {}, one)));
};

/** Builds an operation's request from the form's current values. */
const requestOf = ({ verb, path, inputs, body }) => {
  const query = new URLSearchParams();
  const headers = { Authorization: `Bearer ${key.value}` };
  let address = path;
  for (const { name, in: place, control } of inputs) {
    if (place === 'path') address = address.replace(`{${name}}`, encodeURIComponent(control.value));
    else if (control.value === '') continue;
    else if (place === 'query') query.set(name, control.value);
    else headers[name] = control.value;
  }
  if (body) headers['Content-Type'] = 'application/json';
  const search = query.size > 0 ? `?${query}` : '';
  const init = { method: verb.toUpperCase(), headers, ...(body && { body: body.value }) };
  return new Request(new URL(`v1${address}${search}`, document.baseURI), init);
};

const shown = async (request) => {
  const response = await fetch(request);
  const head = [...response.headers].map(([name, value]) => `${name}: ${value}`);
  const text = await response.text();
  const isJson = response.headers.get('Content-Type')?.startsWith('application/json');
  const first = `HTTP ${response.status} ${response.statusText}`;
  return [first, ...head, '', isJson && text ? indented(text) : text].join('\n');
};

const tryIt = (operation, document_) => {
  const { parameters, schemas } = document_.components;
  const inputs = operation.parameters.map(({ $ref }) => {
    const parameter = parameters[$ref.split('/').pop()];
    return { ...parameter, control: inputFor(parameter, schemas) };
  });
  const json = operation.requestBody?.content['application/json'];
  const body =
    json &&
    element('textarea', {
      rows: 5,
      spellcheck: false,
      value: JSON.stringify(json.example, null, 2),
    });
  const output = element('output', {});
  const form = element(
    'form',
    {},
    ...inputs.map(({ name, required, control }) =>
      field(`${name}${required ? ' (required)' : ''}`, Object.assign(control, { required })),
    ),
    ...(body ? [field('Body', body)] : []),
    element('button', {}, `Send ${operation.verb.toUpperCase()} ${operation.path}`),
    output,
  );
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const answer = await shown(requestOf({ ...operation, inputs, body })).catch(String);
    output.replaceChildren(element('pre', {}, answer));
  });
  return element('details', { className: 'try' }, element('summary', {}, 'Try it'), form);
};

const hasTryIt = (operation) =>
  operation['x-hideTryItPanel'] !== true && operation['x-explorer-enabled'] !== false;

/** Puts the panel between an operation's examples and its answers. */
const place = (operation, panel) => {
  const id = operation.summary.toLowerCase().replaceAll(' ', '-');
  let at = document.getElementById(id);
  while (at && !(at.tagName === 'H4' && at.textContent === 'Answers')) at = at.nextElementSibling;
  at?.before(panel);
};

const answer = await fetch('v1/openapi.json');
if (answer.ok) {
  const reference = await answer.json();
  document
    .getElementById('authentication')
    ?.nextElementSibling?.after(field('API key, for "Try it" on this page', key));
  for (const [path, verbs] of Object.entries(reference.paths)) {
    for (const [verb, one] of Object.entries(verbs)) {
      const operation = { ...one, path, verb };
      if (hasTryIt(operation)) place(operation, tryIt(operation, reference));
    }
  }
}
