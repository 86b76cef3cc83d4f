// Runs in a page. Finds visible elements step by step, and reports on the first one or acts on it. Needs no scripts of
// the page. A wanted text is a whole text, a part of one, or a regular expression.
(steps, verb, value) => {
  const roles = {
    alert: '[role=alert]',
    button: 'button:not([role])',
    cell: 'td',
    checkbox: 'input[type=checkbox]',
    combobox: 'select',
    heading: 'h1, h2, h3, h4, h5, h6',
    link: 'a[href]:not([role])',
    menuitem: '[role=menuitem]',
    navigation: 'nav',
    region: 'section[aria-label], section[aria-labelledby], [role=region]',
    row: 'tr',
    status: '[role=status]',
  };
  const fields = 'input, select, textarea';
  const plain = (text) => (text ?? '').replace(/\s+/g, ' ').trim();
  const isVisible = (one) =>
    one.checkVisibility({ visibilityProperty: true }) && one.getClientRects().length > 0;
  const says = (text, { whole, part, source, flags }) => {
    if (whole !== undefined) return text === plain(whole);
    return part === undefined ? new RegExp(source, flags).test(text) : text.includes(plain(part));
  };
  const labelOf = (label) => {
    const copy = label.cloneNode(true);
    for (const one of copy.querySelectorAll(`${fields}, button`)) one.remove();
    return plain(copy.textContent);
  };
  const nameOf = (one) => {
    const ids = one.getAttribute('aria-labelledby')?.split(' ');
    if (ids) return plain(ids.map((id) => document.getElementById(id)?.innerText).join(' '));
    if (one.ariaLabel) return plain(one.ariaLabel);
    if (one.labels?.length > 0) return [...one.labels].map(labelOf).join(' ');
    return plain(one.innerText) || plain(one.title);
  };
  const innermost = (all) => {
    const set = new Set(all);
    return all.filter((one) => ![...one.querySelectorAll('*')].some((inner) => set.has(inner)));
  };
  const narrowed = (found, { css, role, label, text, has, last }) => {
    const within = (selector) => {
      const all = found.flatMap((one) => [...one.querySelectorAll(selector)]);
      return [...new Set(all)];
    };
    if (css) return within(css);
    if (role) {
      const all = within(roles[role]).filter(isVisible);
      return label ? all.filter((one) => says(nameOf(one), label)) : all;
    }
    if (label) return within(fields).filter((one) => says(nameOf(one), label));
    if (text) {
      const all = [...found, ...within('body, body *:not(script)')];
      return innermost(all.filter((one) => one !== document && says(plain(one.textContent), text)));
    }
    if (has) return found.filter((one) => says(plain(one.textContent), has));
    return last ? found.slice(-1) : found;
  };
  const found = steps.reduce(narrowed, [document]);
  const seen = found.find(isVisible);
  const first = seen ?? found[0];
  /** Whether a mouse could reach the element. */
  const isUncovered = () => {
    seen.scrollIntoView({ block: 'center', behavior: 'instant' });
    const { x, y, width, height } = seen.getClientRects()[0];
    const hit = document.elementFromPoint(x + width / 2, y + height / 2);
    return seen.contains(hit) || hit?.closest('label')?.control === seen;
  };
  const canBeUsed = () => seen !== undefined && !seen.disabled;
  const told = (one) => {
    for (const type of ['input', 'change']) one.dispatchEvent(new Event(type, { bubbles: true }));
    return true;
  };
  const verbs = {
    count: () => found.length,
    isVisible: () => seen !== undefined,
    all: () => found.map((one) => one[value]),
    property: () => first?.[value],
    // Presses in the same step as the search, so that no live update comes between them.
    press: () => {
      if (!canBeUsed() || !isUncovered()) return undefined;
      seen.focus();
      seen.click();
      return true;
    },
    focus: () => {
      if (!canBeUsed()) return undefined;
      seen.focus();
      return true;
    },
    // Sends the events of typing and pasting.
    fill: () => {
      if (!canBeUsed()) return undefined;
      seen.focus();
      seen.select();
      document.execCommand(value === '' ? 'delete' : 'insertText', false, value);
      return true;
    },
    choose: () => {
      const option = [...(seen?.options ?? [])].find((one) => one.value === value);
      if (!option) return undefined;
      option.selected = true;
      return told(seen);
    },
    upload: () => {
      if (!first) return undefined;
      const { name, base64 } = value;
      const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      const { items, files } = new DataTransfer();
      items.add(new File([bytes], name, { type: 'application/zip' }));
      first.files = files;
      return told(first);
    },
  };
  return verbs[verb]();
};
