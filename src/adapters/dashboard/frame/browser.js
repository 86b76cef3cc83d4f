// Improves the pages where scripts run. Without scripts everything still works, with more reloads.
import { Idiomorph } from 'idiomorph/dist/idiomorph.esm.js';
import { inWords, inWordsWithDate, plannedInWords } from './time-words.js';

// Chromium crashes when idiomorph moves a part with fields by `moveBefore`. If that is missing, idiomorph uses
// `insertBefore`.
delete Element.prototype.moveBefore;

const ahead = (() => {
  const { now } = document.documentElement.dataset;
  if (now === undefined) return 0;
  const [page] = performance.getEntriesByType('navigation');
  const sinceItCame = page ? performance.now() - page.responseStart : 0;
  return Date.parse(now) - (Date.now() - sinceItCame);
})();
const timeNow = () => Date.now() + ahead;

const relativeWords = { plain: inWords, planned: plannedInWords };
const wordsOf = ({ dateTime, dataset }) =>
  (relativeWords[dataset.relative] ?? inWordsWithDate)(
    new Date(dateTime),
    new Date(timeNow()),
    localDay,
  );

/** Shows times in this device's zone. The server writes UTC, which stays in the tooltip. */
const format = (options) => new Intl.DateTimeFormat('en-GB', options);
const days = format({ day: 'numeric', month: 'short', year: 'numeric' });
const minutes = format({ hour: '2-digit', minute: '2-digit' });
const seconds = format({ hour: '2-digit', minute: '2-digit', second: '2-digit' });
const localDay = (at) => days.format(at).replace('Sept', 'Sep');
const localMinute = (at) => {
  const isToday = localDay(at) === localDay(new Date(timeNow()));
  return isToday ? minutes.format(at) : `${localDay(at)}, ${minutes.format(at)}`;
};
const localWords = {
  day: localDay,
  minute: localMinute,
  exact: (at) => `${localDay(at)}, ${seconds.format(at)}`,
};

const refresh = () => {
  for (const one of document.querySelectorAll('time[data-relative]')) {
    const words = wordsOf(one);
    if (one.textContent !== words) one.textContent = words;
  }
  for (const one of document.querySelectorAll('time[data-local]')) {
    const words = localWords[one.dataset.local](new Date(one.dateTime));
    if (one.textContent !== words) one.textContent = words;
  }
  for (const one of document.querySelectorAll('button[data-ready-at]')) {
    one.disabled = Date.parse(one.dataset.readyAt) > timeNow();
  }
  for (const one of document.querySelectorAll('[data-until]')) {
    one.hidden = Date.parse(one.dataset.until) <= timeNow();
  }
  nameOther();
  const scripted = '[data-copy], [data-choose-folder], [data-drop-hint]';
  for (const one of document.querySelectorAll(scripted)) one.hidden = false;
};

/** Maps each typed name to its other name: '' if there is none, undefined until that is known. */
const others = new Map();

const nameOther = () => {
  for (const one of document.querySelectorAll('[data-other-of]')) {
    const { other, box } = otherIn(one);
    const words = other || one.dataset.any;
    if (one.textContent !== words) one.textContent = words;
    one.classList.toggle('own', Boolean(other));
    one.closest('label').hidden = box.disabled = other === '';
  }
};
const otherIn = (one) => {
  const { control: box } = one.closest('label');
  const typed = box.form.elements[one.dataset.otherOf].value.trim();
  return { typed, box, other: typed === '' ? undefined : others.get(typed) };
};
let asking;
document.addEventListener('input', ({ target }) => {
  const one = target.form?.querySelector('[data-other-of]');
  if (target.name !== one?.dataset.otherOf) return;
  clearTimeout(asking);
  asking = setTimeout(() => void askForOther(one), 300);
  nameOther();
});
const askForOther = async (one) => {
  const { typed } = otherIn(one);
  const from = `${one.dataset.from}?name=${encodeURIComponent(typed)}`;
  const answer = await fetch(from).catch(() => undefined);
  if (answer?.ok && !answer.redirected) others.set(typed, await answer.text());
  nameOther();
};

const copy = async (button) => {
  const { copy: text } = button.dataset;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Only secure pages have the clipboard API. Other pages copy from a temporary field.
    const area = Object.assign(document.createElement('textarea'), { value: text });
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
  button.textContent = 'Copied';
  setTimeout(() => (button.textContent = 'Copy'), 1500);
};

document.addEventListener('click', (event) => {
  const button = event.target.closest?.('[data-copy]');
  if (button) void copy(button);
});

/**
 * Ignores a second click. Sends a form only once the server is reachable, because otherwise the browser's own error
 * page would replace what was typed. A form whose page is left before that is sent at once, unless it has a file: beacons
 * carry at most 64 KiB. The server does nothing if the answer would show a secret.
 */
document.addEventListener('submit', (event) => {
  const { submitter, target } = event;
  if (target.dataset.sent) {
    event.preventDefault();
    return;
  }
  target.dataset.sent = 'yes';
  submitter?.setAttribute('aria-busy', 'true');
  const isPost = (submitter?.formMethod || target.method) === 'post';
  if (!isPost || 'upload' in target.dataset || isReached.delete(target)) return;
  event.preventDefault();
  void sendOnceReached(target, submitter);
});
const waiting = new Map();
const isReached = new Set();
const sendOnceReached = async (form, submitter) => {
  const hasFile = form.enctype === 'multipart/form-data';
  if (hasFile) addEventListener('beforeunload', askBeforeLeaving);
  else waiting.set(form, submitter);
  const { href } = document.querySelector('link[rel=icon]');
  const asked = { method: 'HEAD', cache: 'no-store', signal: AbortSignal.timeout(10_000) };
  const answer = await fetch(href, asked).catch(() => undefined);
  if (hasFile) removeEventListener('beforeunload', askBeforeLeaving);
  else if (!waiting.delete(form)) return;
  freshen(form);
  form.querySelector('[data-offline]')?.remove();
  if (answer) {
    isReached.add(form);
    form.requestSubmit(submitter);
  } else {
    form.prepend(offline());
  }
};
addEventListener('pagehide', () => {
  for (const [form, submitter] of waiting) {
    const address = submitter?.hasAttribute('formaction') ? submitter.formAction : form.action;
    navigator.sendBeacon(address, new URLSearchParams(new FormData(form, submitter)));
  }
  waiting.clear();
});
const offline = () => {
  const said = Object.assign(document.createElement('p'), {
    className: 'error',
    role: 'alert',
    textContent:
      'We cannot reach Animal Store. Check your connection, then send this again: nothing that you entered is lost.',
  });
  said.dataset.offline = said.dataset.said = '';
  return said;
};
addEventListener('pageshow', () => {
  for (const form of document.querySelectorAll('form[data-sent]')) freshen(form);
});

const mib = (bytes) => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;

/** Makes the browser ask before a page is left, which would cut off its upload. */
const askBeforeLeaving = (event) => event.preventDefault();

const upload = (form) => {
  const [box, bar, said, cancel] = ['.progress', 'progress', 'output', '[data-cancel]'].map((one) =>
    form.querySelector(one),
  );
  const request = new XMLHttpRequest();
  const stop = (message) => {
    removeEventListener('beforeunload', askBeforeLeaving);
    freshen(form);
    said.textContent = message;
    bar.hidden = cancel.hidden = true;
  };
  request.upload.addEventListener('progress', ({ loaded, total }) => {
    bar.max = total;
    bar.value = loaded;
    said.ariaLive = 'off';
    said.textContent = `${Math.floor((100 * loaded) / total)} % of ${mib(total)}`;
  });
  request.upload.addEventListener('load', () => {
    bar.removeAttribute('value');
    cancel.hidden = true;
    said.ariaLive = 'polite';
    said.textContent = 'Uploaded. Unpacking and compressing …';
  });
  request.addEventListener('load', () => {
    removeEventListener('beforeunload', askBeforeLeaving);
    const page = new DOMParser().parseFromString(request.responseText, 'text/html');
    const answer = page.querySelector('main');
    if (request.status < 400) location.assign(request.responseURL);
    else if (answer) showRefusal(form, answer);
    else stop(`The upload was refused (${request.status}).`);
  });
  request.addEventListener('error', () => {
    const became = cancel.hidden ? 'Check the list below for the result.' : 'Nothing was deployed.';
    stop(`The connection was lost. ${became}`);
  });
  request.addEventListener('abort', () => stop('Cancelled. Nothing was deployed.'));
  cancel.onclick = () => request.abort();
  form.querySelector('[data-refusal]')?.remove();
  form.querySelector('[aria-invalid]')?.removeAttribute('aria-invalid');
  box.hidden = bar.hidden = cancel.hidden = false;
  said.textContent = '';
  addEventListener('beforeunload', askBeforeLeaving);
  request.open('POST', form.action);
  request.send(new FormData(form));
};

const freshen = (form) => {
  delete form.dataset.sent;
  form.querySelector('[aria-busy]')?.removeAttribute('aria-busy');
};

const showRefusal = (form, answer) => {
  freshen(form);
  show(answer.outerHTML);
  const input = form.querySelector('input[type=file]');
  const wanted = answer.querySelector('input[type=file]');
  for (const name of ['aria-invalid', 'aria-describedby']) {
    if (wanted?.hasAttribute(name)) input.setAttribute(name, wanted.getAttribute(name));
  }
  input.focus();
};

document.addEventListener('submit', (event) => {
  if (event.defaultPrevented || !event.target.matches('form[data-upload]')) return;
  event.preventDefault();
  upload(event.target);
});
/** A folder or archive may be dropped on a deploy form. The code that packs it is loaded on demand. */
const dropping = () => import('./drop-folder.js');
const dropForm = ({ target }) => target.closest?.('form[data-unwanted]');
for (const name of ['dragenter', 'dragover', 'dragleave', 'drop']) {
  document.addEventListener(name, (event) => {
    const form = dropForm(event);
    if (!form) return;
    event.preventDefault();
    form.toggleAttribute('data-over', name === 'dragenter' || name === 'dragover');
  });
}
document.addEventListener('drop', (event) => {
  const form = dropForm(event);
  if (!form) return;
  // The browser empties these once the handler waits for anything.
  const { items, files } = event.dataTransfer;
  const [entry] = [...items].map((item) => item.webkitGetAsEntry()).filter(Boolean);
  const dropped = { entry, files: [...files] };
  void dropping().then((loaded) => loaded.takeDrop(form, dropped));
});
document.addEventListener('click', ({ target }) => {
  const form = target.closest?.('[data-choose-folder]')?.form;
  if (form) void dropping().then((loaded) => loaded.chooseFolder(form));
});

document.addEventListener('change', ({ target }) => {
  const largest = target.type === 'file' && target.form?.dataset.largest;
  if (!largest) return;
  const isLarger = [...target.files].some(({ size }) => size > Number(largest));
  target.setCustomValidity(isLarger ? `This file is larger than ${mib(largest)}.` : '');
  target.reportValidity();
});

document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest?.('input, textarea, select, [contenteditable]')) return;
  const field = document.querySelector('[data-search]');
  event.preventDefault();
  if (field?.checkVisibility()) field.select();
  else document.querySelector('.search-opener')?.click();
});

document.addEventListener('keydown', (event) => {
  const menu = event.target.closest?.('[role=menu]');
  if (!menu || !['ArrowDown', 'ArrowUp', 'Home', 'End'].includes(event.key)) return;
  const items = [...menu.querySelectorAll('[role=menuitem]')];
  const at = items.indexOf(event.target);
  const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key];
  items.at(next % items.length)?.focus();
  event.preventDefault();
});
/** Browsers return the focus from a menu or dialog to its button, but not from a dialog to the menu that opened it. */
const focusAfter = ({ newState, target }) => {
  if (newState === 'open') return target.querySelector('[role=menuitem]')?.focus();
  const { activeElement, body } = document;
  if (target.popover && (activeElement === body || target.contains(activeElement)))
    document.querySelector(`[popovertarget="${target.id}"]`)?.focus({ preventScroll: true });
};
document.addEventListener('toggle', focusAfter, true);

/** Notices and refusals describe the last action, so the server's version of the page does not contain them. */
const isAnswer = (node) => node instanceof Element && node.matches('[data-said], [data-refusal]');

/** Typed and chosen values stay, as do all fields of a refused form. Other fields follow the server's version. */
const isTouched = (field) =>
  field === document.activeElement ||
  field.type === 'file' ||
  Boolean(field.form?.querySelector('[data-refusal]')) ||
  isChanged(field);
const isChanged = (field) => {
  const { options, value, defaultValue, checked, defaultChecked } = field;
  if (options) return [...options].some((one) => one.selected !== one.defaultSelected);
  return value !== defaultValue || checked !== defaultChecked;
};

/**
 * A form keeps its key while a file is chosen, so that an upload whose answer was lost makes no second deploy when it is
 * sent again.
 */
const keepsKey = (field) =>
  field.name === 'once' && [...field.form.elements].some(({ files }) => files?.length);

/** Updates a live page to the server's version, but keeps what the person is typing and has opened. */
const show = (markup) => {
  const main = document.querySelector('main');
  Idiomorph.morph(main, markup, {
    callbacks: {
      beforeNodeMorphed: (old, fresh) => {
        if (old.matches?.('input:not([type=hidden]), textarea, select') && isTouched(old))
          return false;
        if (keepsKey(old)) return false;
        if (old instanceof HTMLDetailsElement) fresh.open = old.open;
        return !(old instanceof HTMLFormElement && old.dataset.sent) && !isAnswer(old);
      },
      beforeNodeRemoved: (old) => !isAnswer(old),
    },
  });
  refresh();
};

/** After a refusal, the page waits 60 s, then twice as long each time up to 960 s, and a random time more. */
const refusedSeconds = { first: 60, longest: 960 };

/**
 * @param bellOnly leaves the page unchanged, and follows only while the page is visible, because browsers open few
 *   connections to a host
 */
const follow = (address, { bellOnly = false, afterRefusal = refusedSeconds.first } = {}) => {
  const updates = new EventSource(address);
  let seconds = afterRefusal;
  const again = (after, next) => {
    updates.close();
    const goOn = () => follow(address, { bellOnly, afterRefusal: next });
    setTimeout(() => whenSeen(goOn), after * 1000);
  };
  updates.addEventListener('page', ({ data }) => {
    seconds = refusedSeconds.first;
    show(JSON.parse(data));
  });
  updates.addEventListener('bell', ({ data }) => {
    Idiomorph.morph(document.querySelector('[data-bell]'), JSON.parse(data));
    lookAtNotices();
  });
  updates.addEventListener('over', () => {
    updates.close();
    // A reload would lose what was typed. If it is sent later, the server keeps it until after the sign-in.
    const isTyping = [...document.querySelectorAll('main :is(input, textarea, select)')].some(
      isChanged,
    );
    if (!bellOnly && !isTyping) location.reload();
  });
  updates.addEventListener('later', ({ data }) => again(Number(data), refusedSeconds.first));
  // The browser reconnects after a broken connection, but gives up after an answer that is not a stream.
  updates.addEventListener('error', () => {
    if (updates.readyState !== EventSource.CLOSED) return;
    again(seconds * (1 + Math.random()), Math.min(2 * seconds, refusedSeconds.longest));
  });
  const rest = () => {
    if (updates.readyState !== EventSource.CLOSED) again(0, refusedSeconds.first);
  };
  if (bellOnly) document.addEventListener('visibilitychange', rest, { once: true });
};

/** Marks the notices as read while their page is visible. A prerendered page does not count. */
const lookAtNotices = () => {
  const bell = document.querySelector('[data-bell]');
  if (!bell?.querySelector('.count') || bell.action !== location.origin + location.pathname) return;
  if (document.hidden || document.prerendering) return;
  void fetch(bell.action, { method: 'POST', redirect: 'manual', body: new URLSearchParams() });
};
document.addEventListener('visibilitychange', lookAtNotices);
lookAtNotices();

const followBell = () => {
  const bell = document.querySelector('[data-bell]');
  if (bell) follow(`${bell.action}/bell`, { bellOnly: true });
};

const whenSeen = (act) => {
  if (!document.hidden) act();
  else document.addEventListener('visibilitychange', act, { once: true });
};

const ask = async (seconds) => {
  const answer = await fetch(location.href, { cache: 'no-store' }).catch(() => undefined);
  if (answer?.status === 404) return location.reload();
  if (answer?.ok) {
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    show(page.querySelector('main').outerHTML);
  }
  askAgain(seconds, answer?.ok ? seconds : refusedSeconds.first * (1 + Math.random()));
};
const askAgain = (seconds, after = seconds) =>
  setTimeout(() => whenSeen(() => ask(seconds)), after * 1000);

const { live, refresh: refreshSeconds } = document.querySelector('main').dataset;
if (refreshSeconds !== undefined) {
  askAgain(Number(refreshSeconds));
} else if (live !== undefined) {
  // A refused form has its own address. This restores the page's address, so that a reload shows the page.
  if (location.pathname !== live)
    history.replaceState(null, '', live + location.search + location.hash);
  follow(location.pathname + location.search);
} else {
  setTimeout(() => whenSeen(followBell), 1000);
}

const address = new URL(location.href);
if (address.searchParams.has('done')) {
  address.searchParams.delete('done');
  history.replaceState(null, '', address);
}
refresh();
setInterval(refresh, 1000);
