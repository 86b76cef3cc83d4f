// Runs in a page. Returns the difference between what the page shows and what a page with this markup would show; empty
// if there is none. Ignores what scripts and people change: times in words, typed text, and what is folded.
(markup) => {
  const told = (node) => {
    if (node instanceof Text) return [node.data.replace(/\s+/g, ' ').trim()].filter(Boolean);
    if (!(node instanceof Element) || node.matches('time, .notice, [data-copy]')) return [];
    const { localName, id, className } = node;
    const begin = `<${localName} ${id} ${className} ${node.getAttribute('href') ?? ''}>`;
    return [begin, ...[...node.childNodes].flatMap(told), `</${localName}>`];
  };
  const wanted = told(new DOMParser().parseFromString(markup, 'text/html').querySelector('main'));
  const shown = told(document.querySelector('main'));
  const at = [...wanted, 'the end'].findIndex(
    (part, place) => part !== (shown[place] ?? 'the end'),
  );
  if (at === -1) return '';
  const around = (parts) => parts.slice(Math.max(0, at - 4), at + 4).join('');
  return `wanted ${around(wanted)}\n shown ${around(shown)}`;
};
