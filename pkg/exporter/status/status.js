// Keeps the page current: asks for the part that changes, and puts it in the place of the
// old one where it differs. Without it the page is what it was when it was loaded.
'use strict';
(() => {
  const live = document.getElementById('live');
  const connection = document.getElementById('connection');
  const form = document.querySelector('form[role=search]');
  const input = document.getElementById('q');
  const every = 2000, within = 8000;
  let tag = '', timer = 0, asking = null;

  // What has the focus, so that it has it in the new part too.
  const path = (node) => {
    const at = [];
    for (; node && node !== live; node = node.parentElement) {
      at.unshift(Array.prototype.indexOf.call(node.parentElement.children, node));
    }
    return node ? at : null;
  };
  const follow = (at) => at.reduce((node, i) => node && node.children[i], live);

  const replace = (text) => {
    const focused = live.contains(document.activeElement) ? path(document.activeElement) : null;
    const scrolled = Array.from(live.querySelectorAll('.wide'), (w) => w.scrollLeft);
    const level = () => { const l = live.querySelector('.level'); return l ? l.textContent : ''; };
    const before = level();
    live.innerHTML = text;
    live.querySelectorAll('.wide').forEach((w, i) => { w.scrollLeft = scrolled[i] || 0; });
    const node = focused && follow(focused);
    if (node) node.focus({ preventScroll: true });
    const now = level();
    document.title = now + ' · Kafka, by kafkaops';
    if (now !== before) connection.textContent = 'The verdict is now ' + now + '.'; // read aloud
  };

  const ask = async () => {
    clearTimeout(timer);
    if (asking) asking.abort();
    const mine = asking = new AbortController();
    const bound = setTimeout(() => mine.abort(), within);
    try {
      const headers = tag ? { 'If-None-Match': tag } : {};
      const answer = await fetch('status?q=' + encodeURIComponent(input.value), { headers, signal: mine.signal, cache: 'no-store' });
      if (mine !== asking) return;
      if (answer.status === 200) {
        replace(await answer.text());
        tag = answer.headers.get('ETag') || '';
      } else if (answer.status !== 304) {
        throw new Error('HTTP ' + answer.status);
      }
      if (connection.dataset.lost) { connection.textContent = ''; delete connection.dataset.lost; }
    } catch (e) {
      if (mine !== asking) return;
      connection.dataset.lost = 'yes';
      connection.textContent = 'This page does not hear from the exporter any more; what it shows is old. Asking again.';
    } finally {
      clearTimeout(bound);
      if (mine === asking) timer = setTimeout(ask, every);
    }
  };

  form.addEventListener('submit', (e) => {
    e.preventDefault();
    history.replaceState(null, '', input.value ? '?q=' + encodeURIComponent(input.value) : location.pathname);
    ask();
  });
  input.addEventListener('input', () => { clearTimeout(timer); timer = setTimeout(ask, 250); });
  document.addEventListener('visibilitychange', () => { if (!document.hidden) ask(); });
  timer = setTimeout(ask, every);
})();
