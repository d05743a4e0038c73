// The components that every page is made of. Colour stands for the health of objects and for people's acts only; truth
// is ink.
import { h, icon, s } from './dom.js';
import { at, clock, ms, num, seconds, span, wall, who } from './fmt.js';
import { can, isFresh, need, net, now } from './net.js';

const PAGES = {
  service: 'services', vserver: 'vservers', scenario: 'scenarios', service_group: 'services', check: 'checks',
  datacenter: 'datacenters', datacenter_pair: 'datacenters', zone: 'dns', rrset: 'dns', trigger: 'outbox',
  certificate: 'certificates', server: 'services', monitor: 'monitors', switch: 'scenarios', peer: 'datacenters',
  query: 'outbox', delivery: 'outbox',
};

/** A name: isolated, so that marks of direction inside do not turn the text around it. */
export const nm = text => h(String(text).length > 40 ? 'bdi.long' : 'bdi.nw', text);

/** Where an object is shown; null where it has no page of its own. */
export function hrefOf(kind, name) {
  const page = PAGES[kind];
  if (!page) return kind === 'appliance' ? at('config') : null;
  if (kind === 'service' || kind === 'vserver' || kind === 'scenario') return at(page, name);
  if (kind === 'service_group') return `${at(page)}?q=${encodeURIComponent(name + '/')}`;
  if (kind === 'monitor') return at(page, name);
  if (kind === 'server' || kind === 'check') return kind === 'check' ? at('checks', name) : at('services');
  if (kind === 'switch' && /\.maintenance$/.test(name)) return at('datacenters');
  return at(page);
}

export function obj(kind, name, text = name) {
  const href = hrefOf(kind, name);
  return href ? h('a.obj', { href }, nm(text)) : h('b', nm(text));
}

export const link = (href, ...text) => h('a', { href }, ...text);
export const since = iso => (iso ? span((now() - ms(iso)) / 1000) : '–');
export const time = (iso, digits) => {
  const local = new Date(ms(iso));
  return iso ? h('time', { datetime: iso, title: isNaN(local) ? '' : local.toString() }, wall(iso, now(), digits)) : '–';
};
/** Time left; with `≤` where nothing is heard any more. */
export const left = iso => (net.live === 'lost' ? '≤\u00a0' : '') + clock((ms(iso) - now()) / 1000);

export const b = (kind, sign, text, title) => h('span', { class: 'b ' + kind, title }, sign && icon(sign), text);

/** `DOWN since …: why`, for a tooltip. */
const WORD = { UP: 'UP', DOWN: 'DOWN', TROFS: 'Draining', TROFS_DOWN: 'Draining', OFS: 'Out of service', UNKNOWN: 'Unknown' };

/** What a service, a member or a vserver is in. */
export function stateBadges(o) {
  const state = String(o.state || 'UNKNOWN').toUpperCase();
  const out = [];
  if (o.forced) out.push(b('hand', 'hand', `Forced ${o.forced}`));
  const drain = o.drain;
  if (state === 'UP') { if (!o.forced) out.push(b('up', 'up', 'UP', o.since && `UP for ${since(o.since)}`)); }
  else if (state === 'DOWN') { if (!o.forced) out.push(b('bad', 'bad', 'DOWN', o.since && `DOWN since ${wall(o.since, now())}`)); }
  else if (state.startsWith('TROFS')) {
    const ends = drain && drain.kind !== 'monitor' && (drain.deadline || drain.ends_at);
    out.push(b('warn', 'drain', ['Draining', ends && ` ${left(ends)}`],
      state === 'TROFS' ? 'GOING OUT OF SERVICE (TROFS)' : 'DOWN WHEN GOING OUT OF SERVICE'));
    if (state === 'TROFS_DOWN') out.push(b('bad', 'bad', 'probe down'));
  } else if (state === 'OFS') out.push(b('', 'ofs', 'Out of service', 'OUT OF SERVICE'));
  else out.push(b('', 'unk', WORD[state] || state, 'Not known yet'));
  const real = o.real && String(o.real).toUpperCase();
  const disagrees = o.forced && real && (o.forced === 'up' ? /DOWN/ : /^UP$/).test(real);
  if (disagrees) out.push(b(o.forced === 'up' ? 'bad' : '', o.forced === 'up' ? 'bad' : 'up', `probe ${real.includes('DOWN') ? 'down' : 'up'}`));
  if (o.passive === 'ejected') out.push(b('warn', 'ofs', ['Ejected', o.ejected_for && ` ${o.ejected_for}`], o.ejected_because));
  return out;
}

export function checkBadge(c) {
  const out = [];
  if (c.forced) out.push(b('hand', 'hand', `Forced ${c.forced}`));
  const word = c.forced ? c.real : c.state;
  const text = c.forced ? `probe ${word}` : word;
  out.push(word === 'up' ? b('up', 'up', text) : word === 'down' ? b('bad', 'bad', text) : b('', 'unk', text));
  return out;
}

export function scenarioBadge(sc) {
  if (sc.stuck) return b('bad', 'bad', 'stuck', 'Both directions are on. Nothing moves until one changes.');
  if (sc.state === 'active') return b('ink', 'b-act', 'active');
  if (sc.state === 'inactive') return b('line', 'b-ina', 'inactive');
  return b('line', 'b-lev', sc.state);
}

/** What the two modes mean, and what else is to be said of a scenario in a word. */
export const shown = sc => [
  sc.shown && b(/forced|pinned|maintenance|stuck|disabled/.test(sc.shown) ? 'hand' : 'line', null, sc.shown),
  sc.ready_to_return && b('line', null, 'ready to return'),
  sc.oscillating && b('bad', 'bad', 'oscillating'),
  sc.drill && b('hand', 'hand', `drill ${sc.drill}`),
];

const details = (sc, d) => (sc.mode_details || {})[d] || (typeof (sc.modes || {})[d] === 'object' ? sc.modes[d] : null) || { mode: (sc.modes || {})[d] };
export const modeOf = details;

export function modeText(m) {
  const parts = [`mode ${m.mode}`];
  if (m.base && m.base !== m.mode) parts.push(`base mode ${m.base}`);
  if (m.spent) parts.push('has acted');
  if (m.actor) parts.push(`set by ${who(m.actor)}`);
  if (m.since) parts.push(`at ${wall(m.since, now())}`);
  if (m.reason) parts.push(`“${m.reason}”`);
  if (m.expires) parts.push(`expires ${wall(m.expires, now())}`);
  return parts.join(', ');
}

export function modes(sc) {
  const one = d => {
    const m = details(sc, d);
    return h('span', { class: m.mode === 'on' ? (m.spent ? 'm-spent' : 'm-on') : `m-${m.mode}`, title: `${d}: ${modeText(m)}` }, m.mode);
  };
  const label = `activate ${details(sc, 'activate').mode}, deactivate ${details(sc, 'deactivate').mode}`;
  return h('span.modes', { role: 'img', 'aria-label': label }, one('activate'), one('deactivate'));
}

export const site = (name, serving = true) => h('span', { class: serving ? 'site' : 'site away' }, nm(name || 'no site'));

export function note(kind, sign, ...content) {
  return h('div', { class: `note ${kind}` }, icon(sign), h('div.grow', ...content));
}

/** Act buttons: disabled with the reason where the role does not reach. */
export function act(label, go, { kind = '', needs = 'operate', quiet, id } = {}) {
  const allowed = can(needs);
  const role = needs === 'configure' ? 'superuser' : 'operator';
  return h('button', {
    type: 'button', class: `btn ${quiet ? 'quiet' : ''} ${kind}`, id, 'aria-disabled': allowed ? null : 'true',
    title: allowed ? null : `needs role ${role}`, onclick: event => allowed && go(event.target.closest('button')),
  }, label, !allowed && h('span.vh', `, needs role ${role}`));
}

/** A bar; `null` stands for no known end. */
export function bar(share, kind = '', label = null) {
  const hatch = share == null;
  const percent = hatch ? 100 : Math.max(0, Math.min(100, share * 100));
  const value = hatch ? null : Math.round(percent);
  return h('div', {
    class: `bar ${kind} ${hatch ? 'hatch' : ''}`, role: label ? 'progressbar' : null, 'aria-label': label,
    'aria-hidden': label ? null : 'true', 'aria-valuenow': label && !hatch ? value : null,
    'aria-valuemin': label && !hatch ? 0 : null, 'aria-valuemax': label && !hatch ? 100 : null,
  }, h('i', { style: { width: `${percent}%` } }));
}

/** Columns: {head, cell(row), num, wide, label}; `none` is said where there are no rows. */
export function table(caption, columns, rows, { none, row = () => ({}), foot } = {}) {
  if (!rows.length && none) return h('p.empty', none);
  return [
    h('table.stack', { role: 'table' },
      h('caption.vh', caption),
      h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, columns.map(c =>
        h('th', { role: 'columnheader', scope: 'col', class: c.num ? 'num' : null },
          c.hide ? h('span.vh', c.head) : c.head)))),
      h('tbody', { role: 'rowgroup' }, rows.map((item, index) => {
        const { kind, name, class: cls, key } = row(item, index);
        return h('tr', {
          role: 'row', key: key ?? name ?? index, 'data-kind': kind, 'data-name': name,
          class: [cls, kind && isFresh(kind, name) && 'fresh'].filter(Boolean).join(' ') || null,
        }, columns.map(c => h('td', {
          role: 'cell', class: [c.num && 'num', c.wide && 'wide', c.cls].filter(Boolean).join(' ') || null,
          'data-l': c.wide || c.hide ? null : c.head,
        }, h('span', c.cell(item, index)))));
      }))),
    foot,
  ];
}

export function card(id, title, right, body, { cls = '', pad } = {}) {
  return h('section', { class: `card ${cls}`, 'aria-labelledby': id, key: id },
    h('header', h('h2', { id }, title), right && h('span.r', right)),
    pad ? h('div.pad', body) : body);
}

/** What a need has to show: `view` of its data, or that it is being read, or why it could not be. */
export function shows(key, view) {
  const n = need(key);
  if (n.data) return view(n.data);
  if (!n.loaded) return h('div.skel', { 'aria-hidden': 'true' }, h('i'), h('i'), h('i'));
  if (!n.error) return null;
  const { status, message } = n.error;
  if (status === 501) return h('p.empty', 'This appliance does not tell it.');
  if (status === 403) return h('p.empty', message);
  return h('p.empty', h('span.bad', icon('bad')), ' ',
    h('b', `${n.path.split('?')[0]} could not be read: ${message}`), ' The rest of the page is live. ',
    h('button.btn.quiet', { type: 'button', onclick: () => n.fetch() }, 'Read again'));
}

// === truth ===

export function tv(value, holding) {
  const kind = holding ? 'h' : value === 'true' ? 't' : value === 'false' ? 'f' : 'u';
  return h('span', { class: `tv ${kind}`, 'aria-hidden': 'true' });
}

export function term(t) {
  const ends = (t.hold && t.hold.ends_at) || t.hold_ends;
  const holding = Boolean(ends) && ms(ends) > now() - 1000;
  const length = holding && (seconds(t.hold && t.hold.length) || seconds((/for:\s*([\dhms.]+)/.exec(t.text) || [])[1]));
  const gone = length ? Math.max(0, Math.min(length, length - (ms(ends) - now()) / 1000)) : null;
  const word = holding ? 'holding' : t.value;
  const when = holding
    ? (length ? `${clock(gone)} of ${clock(length)}` : `until ${wall(ends, now())}`)
    : t.since ? since(t.since) : '';
  const m = t.measure;
  const reading = t.reading || (m && m.value != null && `${m.value}${m.needs ? `, needs ${m.needs}` : ''}${m.of ? `; ${m.samples} of ${m.of} samples` : ''}`);
  return h('li.term', { key: t.text },
    tv(t.value, holding), h('code', nm(t.text)),
    h('span.age', h('span.tvw', word), ' ', when),
    reading && h('span.read', reading),
    holding && length ? bar(gone / length, 'inkb') : null);
}

export function group(g) {
  const yes = g.terms.filter(t => t.value === 'true').length;
  const count = `${g.value}, ${yes} of ${g.terms.length}`;
  return h('section', { class: `grp ${g.value === 'true' ? 'true' : ''}`, key: g.name },
    h('header', tv(g.value), h('b', nm(g.name)),
      h('span.tvw', count, g.armed === false && h('span.again', icon('wait'), ' counts again once it was false'))),
    h('ul', g.terms.map(term)));
}

// === answers before and after ===

const rr = (a, list, siteName, serving) => h('div.rr', {  },
  siteName ? site(siteName, serving) : null,
  list.length ? list.map(data => h('code', nm(`${a.name} ${a.type || ''} ${typeof data === 'string' ? data : data.data}`)))
    : h('span', h('code', nm(`${a.name} ${a.type || ''}`)), ' no answer'));

export function answers(list, head = 'After this') {
  if (!list || !list.length) return h('p.small', 'No DNS answer changes.');
  const ttls = [...new Set(list.map(a => a.ttl).filter(Boolean))];
  return [
    h('div.ans', h('h3', 'Answers now'), h('span'), h('h3.hd2', head),
      list.map(a => [
        rr(a, a.before || [], a.site_before, true), h('span.mid', icon('move')),
        h('div.rr', ...rr(a, a.after || [], a.site_after, a.site_after === a.site_before).childNodes,
          (a.left_out || []).map(o => h('small', h('del.mono', nm(o.data)), ` ${o.because}`)))])),
    ttls.length ? h('p.small.gap', {  },
      `TTL ${ttls.map(t => (typeof t === 'number' ? span(t) : t)).join(', ')}: caches may keep the old answer that long after the change.`) : null,
  ];
}

// === the beam of a scenario ===

export function beam(sc, left, right) {
  const level = sc.attempt || /ing$/.test(sc.state);
  const active = sc.active ?? sc.state === 'active';
  const [y1, y2] = level ? [34, 34] : active ? [58, 10] : [10, 58];
  const on = side => (!level && side === active ? 'on' : '');
  return s('svg', { class: `beam ${sc.stuck ? 'stuck' : ''}`, viewBox: '0 0 1200 74', 'aria-hidden': 'true' },
    s('path.piv', { d: 'M600 34l24 40h-48z' }), s('path', { d: `M40 ${y1} 1160 ${y2}`, class: 'bm' }),
    sc.stuck && s('path.x', { d: 'M570 14l60 40M630 14l-60 40' }),
    !level && s('circle.wt', { cx: active ? 40 : 1160, cy: 58, r: 10 }),
    s('text', { x: 64, y: active || level ? 24 : 36, class: on(true) }, left),
    s('text', { x: 1136, y: active && !level ? 44 : 24, 'text-anchor': 'end', class: on(false) }, right));
}

export const field = (id, label, hint, input) => h('div.field', { key: id },
  h('label', { for: id }, label, hint && h('span.hint', ' ', hint)), input);
export const select = (id, value, options, onchange) => h('select', { id, value, onchange: e => onchange(e.target.value) },
  options.map(([v, text]) => h('option', { value: v, selected: v === value }, text)));
export const crumb = (...parts) => h('p.crumb', parts.filter(Boolean).map((p, i) => [i ? ' / ' : '', p]));
export const count = n => (n == null ? '' : `, ${num(n)}`);
