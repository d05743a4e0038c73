// What lists have in common: filters and pages by the server, rows of services, connections.
import { h } from './dom.js';
import { bytes, num, seconds, span, wall, who } from './fmt.js';
import { now } from './net.js';
import { act, nm, obj, since, table } from './parts.js';
import { ask, drain, enable, endConnection, force, kick, release } from './acts.js';
import { setParams } from './app.js';

// === lists: filter and pages by the server; where it cannot, by the page ===

let timer = null;
const later = changes => { clearTimeout(timer); timer = setTimeout(() => setParams({ ...changes, cursor: '' }), 40); };

export function filters(params, noun, states) {
  return h('div.filters', { role: 'search', 'aria-label': `Filter ${noun}s` }, h('label.vh', { for: 'fq' }, 'Filter by name'),
    h('input', { id: 'fq', type: 'search', placeholder: 'Filter by name', value: params.q || '', autocomplete: 'off', spellcheck: 'false', oninput: e => later({ q: e.target.value }) }),
    states && [h('label.vh', { for: 'fs' }, 'State'), h('select', { id: 'fs', value: params.state || '', onchange: e => later({ state: e.target.value }) }, states.map(([v, text]) => h('option', { value: v, selected: v === (params.state || '') }, text)))]);
}

const seen = [];
export function pager(data, params) {
  if (!data.next && !params.cursor) return null;
  const total = data.total != null ? `${num(data.total)} in all` : '';
  return h('p.pad.btns', params.cursor && h('button', { type: 'button', class: 'btn', onclick: () => setParams({ cursor: seen.pop() || '' }) }, 'Back'),
    data.next && h('button', { type: 'button', class: 'btn', onclick: () => { seen.push(params.cursor || ''); setParams({ cursor: new URLSearchParams(data.next.split('?')[1]).get('cursor') }); } }, 'Next page'), h('span.dim', total));
}

/** What the probes of a service say, in a line. */
export function probing(s) {
  const m = (s.probes || s.monitors || []).find(x => x.state !== 'up' && x.admin !== 'DISABLED') || (s.probes || s.monitors || [])[0];
  if (!m) return 'not probed';
  const ago = m.last_at ? `, ${since(m.last_at)} ago` : '';
  return [h('bdi', m.last_error || m.answer || m.last_response || m.state), m.latency && ` in ${span(seconds(m.latency))}`, ago, m.failed_in_row > 1 && `, ${m.failed_in_row} in a row`];
}

export function rowActs(s) {
  const out = /^(OFS|TROFS)/.test(s.state) && s.admin === 'DISABLED';
  return h('span.btns', out ? act('Enable…', o => ask(enable('services', s.name), o)) : act('Drain…', o => ask(drain(s.name), o)),
    s.forced ? act('Release…', o => ask(release('services', s.name), o)) : !out && act('Force…', o => ask(force('services', s.name), o)),
    /TROFS/.test(s.state) && s.active > 0 ? act('Kick…', o => ask(kick(s.name, s.active), o)) : null);
}

/** `disabled by …, reason`. */
export function byWhom(s) {
  const d = s.disabled_by;
  if (d) return h('small', h('bdi', [`disabled by ${who(d.actor)}`, s.disabled_with && `with ${s.disabled_with}`, d.reason].filter(Boolean).join(', ')));
  const f = s.forced_by;
  return f ? h('small', h('bdi', [`forced by ${who(f.actor)}`, f.reason, f.expires ? `until ${wall(f.expires, now())}` : 'no expiry'].filter(Boolean).join(', '))) : null;
}

export const p99 = times => ((times || []).find(t => t.part === 'total') || {}).p99_ms;
export const tone = s => (s.forced ? 'row-hand' : /TROFS/.test(s.state) ? 'row-warn' : s.state === 'DOWN' ? 'row-bad' : '');

/** Who is connected, the oldest first. */
export function connections(data, one) {
  return table('Open connections', [
    { head: 'Client', wide: true, cell: c => h('code', nm(c.client)) }, !one && { head: 'Service', cell: c => (c.service ? obj('service', c.service) : '–') },
    { head: 'Open for', cell: c => (c.since ? since(c.since) : span(seconds(c.age))) }, { head: 'State', cell: c => (c.idle ? `idle ${span(seconds(c.idle))}` : c.state) },
    { head: 'Requests', num: true, cell: c => num(c.requests) }, { head: 'Sent', num: true, cell: c => bytes(c.bytes_out ?? c.bytes) },
    { head: 'In flight', wide: true, cell: c => (c.request ? h('bdi', typeof c.request === 'string' ? c.request : `${c.request.method} ${c.request.path}`) : '–') },
    { head: 'Acts', hide: true, wide: true, cell: c => act('End…', o => ask(endConnection(c), o)) },
  ].filter(Boolean), data.items.slice(0, 50), { none: 'Nobody is connected.', row: c => ({ key: c.id }), foot: data.items.length > 50 ? h('p.pad.small', `${num(data.total ?? data.items.length)} in all; the 50 oldest are shown.`) : null });
}
