// Vservers: the list, and one with its chain, its members, who is still on a member that drains, and explain.
import { h } from './dom.js';
import { at, enc, many, millis, ms, num, seconds, span, wall, who } from './fmt.js';
import { call, need, net, now, query } from './net.js';
import { act, b, bar, card, crumb, field, left, link, nm, note, obj, shows, since, stateBadges, table } from './parts.js';
import { ask, drain, enable, force, takeOut } from './acts.js';
import { drained, waitsFor } from './status.js';
import { Series, plot } from './chart.js';
import { needs as refollow, repaint, setParams } from './app.js';
import { cardOf, needsOf } from './policy.js';
import { byWhom, connections, filters, p99, pager, probing, rowActs, tone } from './lists.js';

export const title = args => args[0] || 'Vservers';

export function needs([name], params) {
  if (!name) return { vservers: { path: `/vservers${query({ limit: 100, q: params.q, cursor: params.cursor })}`, kind: 'vserver', every: 10, keep: true } };
  return {
    vserver: { path: `/vservers/${enc(name)}`, kind: 'vserver', one: true, refetch: ['service'], every: 5, keep: true },
    // Comes each second by the stream, where that has rates.
    stats: { path: `/stats/vservers/${enc(name)}`, every: net.noRates ? 5 : 0, keep: true },
    ...needsOf(name),
    ...members_.reduce((all, m) => ({ ...all, [`m:${m}`]: { path: `/services/${enc(m)}`, kind: 'service', one: true, every: leaving_.has(m) ? 5 : 15, keep: true } }), {}),
    on: { path: `/connections${query({ vserver: name, limit: 200 })}`, refetch: ['service'], every: 5, keep: true },
  };
}
export const rates = ([name]) => (name ? `rates=${enc(`vserver/${name}`)}` : null);

/** The members of the vserver at hand are read one by one, as far as they fit; events keep them. */
let members_ = [];
let leaving_ = new Set();
const MOST = 60;

function follow(v) {
  const names = v.members.slice(0, MOST).map(m => m.service), leaving = new Set(v.members.filter(m => /TROFS/.test(m.state)).map(m => m.service));
  if (names.join() === members_.join() && [...leaving].join() === [...leaving_].join()) return;
  members_ = names;
  leaving_ = leaving;
  setTimeout(refollow);
}

let series = null;
let sampled = 0;
let given = new Map();

function sample(v, stats) {
  if (!series || series.object !== `vserver:${v.name}`) { series = new Series(`vserver:${v.name}`); sampled = 0; given = new Map(); }
  series.renew();
  const n = need('stats');
  if (!stats || n.at === sampled) return;
  sampled = n.at;
  if (net.noRates) measure(stats, now());
  // Shares of new clients over the last ten seconds, from what each member was given.
  for (const m of v.members) {
    const list = given.get(m.service) || [];
    list.push([now(), m.requests_total]);
    while (list.length > 1 && list[0][0] < now() - 10e3) list.shift();
    given.set(m.service, list);
  }
}

function measure(stats, when) {
  if (!series) return;
  const times = (stats.times || []).find(t => t.part === 'total');
  series.add('requests', stats.requests.rate, when);
  series.add('connections', stats.client_connections, when);
  // Percentiles of the stats are of all since the start; those of the history are of their ten seconds.
  if (times && !series.told) { series.add('p99', times.p99_ms, when); series.add('p50', times.p50_ms, when); }
}

export function event(kind, data, [name]) {
  const r = kind === 'rates' && (data.items || []).find(x => x.kind === 'vserver' && x.name === name);
  if (!r) return;
  Object.assign(need('stats'), { data: r, loaded: true, at: performance.now() });
  measure(r, ms(data.now));
}

function shares(v) {
  if (v.members.some(m => m.share != null)) return new Map(v.members.map(m => [m.service, m.share > 1 ? m.share / 100 : m.share]));
  const grown = new Map(v.members.map(m => { const l = given.get(m.service); return [m.service, l && l.length ? l[l.length - 1][1] - l[0][1] : 0]; }));
  const all = [...grown.values()].reduce((a, c) => a + c, 0);
  return all ? new Map([...grown].map(([k, n]) => [k, n / all])) : null;
}

function chain(v, services) {
  const share = shares(v);
  const rate = series && series.last('requests');
  const node = (name, ...rest) => h('div', { class: `node ${v.new_clients === 'own' && name === v.name ? 'now' : 'idle'}` }, h('h3', nm(name)), rest);
  const draining = v.members.some(m => /TROFS/.test(m.state));
  return h('div.chain', {  },
    h('div.col', node(v.name, h('code', nm(v.address || 'no address')), h('p.big', num(rate), ' ', h('small', /HTTP|SSL/.test(v.type) ? 'requests/s' : 'connections/s')))),
    h('div.col', h('ul.mems', v.members.slice(0, 12).map(m => {
      const s = services.find(x => x.name === m.service) || m;
      const part = share ? share.get(m.service) : null;
      return h('li', { class: `mem ${m.eligible ? '' : /TROFS/.test(m.state) ? 'lead' : 'none'}`, key: m.service }, obj('service', m.service), h('span', stateBadges({ ...s, state: m.state })),
        bar(part || 0, 'flow', `Share of ${m.service}`), h('span.num', part == null ? '–' : `${Math.round(part * 100)}\u00a0%`), !m.eligible && m.why_not && !/out of service|draining/.test(m.why_not) ? h('small.dim', h('bdi', m.why_not)) : null);
    })), v.members.length > 12 && h('p.small', `and ${v.members.length - 12} more below`), (v.targets || []).map(t => h('p', obj('vserver', t.vserver), ' ', stateBadges({ state: t.effective_state }), t.rules.length > 0 && [' by ', t.rules.map((r, i) => [i ? ', ' : '', nm(r)])], v.default === t.vserver && (t.rules.length ? ', and where no rule leads elsewhere' : ' where no rule leads elsewhere')))),
    v.chain && v.chain.length ? h('div.col.bk', v.chain.map((name, i) => h('div', { class: `node ${v.active_backup === name ? 'now' : 'idle'}` }, h('h3', obj('vserver', name), ' ', b('line', null, i ? `backup ${i + 1}` : 'backup')),
      h('p', v.active_backup === name ? 'It takes new clients now.' : i ? 'After the one before it.' : ['Takes new clients when ', nm(v.name), ' is DOWN', spills(v), '.'], draining && !v.active_backup && ' It is not used while members drain.')))) : null);
}

function spills(v) {
  const s = v.spillover && typeof v.spillover === 'object' ? v.spillover : null;
  const method = v.spillover_method || (s && s.method);
  const limit = v.spillover_threshold ?? (s && s.threshold);
  if (!method) return '';
  return method === 'HEALTH' ? [' or its health falls below ', h('b', `${limit}\u00a0%`), ` (now ${v.health}\u00a0%)`] : [` or over ${num(limit)} (${method.toLowerCase()}${s && s.value != null ? `, now ${num(s.value)}` : ''})`];
}

function notices(v, services) {
  const out = [];
  const leaving = services.filter(s => s.drain && v.members.some(m => m.service === s.name));
  const up = v.members.filter(m => m.eligible);
  if (v.admin === 'DISABLED') out.push(note('', 'ofs', h('b', 'Out of service. '), v.disabled_by && [`By ${who(v.disabled_by.actor)}, ${wall(v.disabled_by.since, now())}`, v.disabled_by.reason && h('bdi', `, “${v.disabled_by.reason}”`), '.']));
  if (v.held_down) out.push(note('hand', 'hand', h('b', 'Held down. '), 'It stays out until a person enables it.'));
  if (v.new_clients === 'refused' && v.admin !== 'DISABLED') out.push(note('bad', 'bad', h('b', 'New clients are refused. '), leaving.length ? 'The backup is not used while members drain.' : 'Nothing can take them.'));
  if (v.new_clients === 'redirected' && v.admin !== 'DISABLED') out.push(note('warn', 'info', h('b', 'New clients are redirected '), 'to ', h('code', nm(v.redirect_url)), '.'));
  if (v.active_backup) out.push(note('warn', 'info', h('b', 'The backup ', nm(v.active_backup), ' takes new clients. '), v.state === 'UP' ? 'It spills over.' : [nm(v.name), ` is ${v.state}.`]));
  if (v.listen_error) out.push(note('bad', 'bad', h('b', 'It does not listen: '), h('bdi', v.listen_error)));
  if (v.address_local === false) out.push(note('warn', 'info', h('b', 'Its address is not on this machine. '), 'Nobody can reach it here until it is.'));
  for (const s of leaving.slice(0, 3)) {
    const ends = s.drain.deadline || s.drain.ends_at;
    out.push(note('warn', 'drain', h('b', nm(s.name), s.drain.kind === 'monitor' ? ' is asked to leave by its monitor.' : ends ? [` leaves in ${left(ends)}`, s.drain.kind === 'both' ? ', or as soon as nobody is on it.' : '.'] : ' leaves as soon as nobody is on it.'), ' ', waitsFor(s.drain, s.active),
      up.length ? [' ', up.slice(0, 3).map((m, i) => [i ? ', ' : '', nm(m.service)]), up.length > 3 ? ` and ${up.length - 3} more carry` : up.length === 1 ? ' carries' : ' carry', ' new clients.'] : ''));
  }
  return out;
}

function members(v, services) {
  const rows = v.members.map(m => ({ ...m, s: { ...m, ...(services.find(x => x.name === m.service) || {}), name: m.service } }));
  const rank = r => (r.s.state === 'UP' ? 1 : 0);
  rows.sort((a, c) => rank(a) - rank(c));
  return table(`Members of ${v.name}`, [
    { head: 'Member', wide: true, cell: m => [obj('service', m.service), h('br'), h('small', nm(m.s.address || ''))] },
    { head: 'State', wide: true, cell: m => [stateBadges(m.s), ' ', m.s.since && h('span.dim', since(m.s.since)), byWhom(m.s) && [h('br'), byWhom(m.s)]] },
    { head: 'Weight', num: true, cell: m => num(m.weight) }, { head: 'Now', num: true, cell: m => many(m.active, /TCP|UDP/.test(v.type) ? 'connection' : 'request') },
    { head: 'p99', num: true, cell: m => millis(p99(m.times)) }, { head: 'Probe', wide: true, cell: m => probing(m.s) },
    { head: 'Acts', hide: true, wide: true, cell: m => rowActs(m.s) },
  ], rows, { none: 'It has no members.', row: m => ({ kind: 'service', name: m.service, class: tone(m.s) }) });
}

// === explain a request ===

const ask_ = { path: '/', method: 'GET', host: '', client: '', headers: '', answer: null, error: null, of: '' };

async function explain(name) {
  try {
    const headers = ask_.headers.split('\n').map(x => x.trim()).filter(Boolean);
    ask_.answer = await call('POST', '/explain/request', { vserver: name, path: ask_.path || '/', method: ask_.method || 'GET', host: ask_.host || undefined, client: ask_.client || undefined, headers: headers.length ? headers : undefined });
    ask_.error = null;
  } catch (error) { ask_.answer = null; ask_.error = error.message; }
  ask_.of = name;
  repaint();
}

function explained(a) {
  const c = a.chosen;
  return [h('p.gap', { role: 'status' }, h('b', c ? ['It goes to ', obj('service', c.service), ` at ${c.address}`] : a.refused ? `Nobody serves it: ${a.refused}` : `It is answered here: ${a.verdict}`), c && [`, by ${c.by}`, c.persistent && ' (its persistence)', '.']),
    h('ol.why', a.rules.map(r => h('li', h('span', 'Rule ', nm(r.rule), ` is ${r.value}`, r.acted ? h('b', ' and acts.') : '.'))),
      a.limits.map(l => h('li', h('span', 'Limit: ', nm(l)))), a.chain.map(x => h('li', h('span', obj('vserver', x.vserver), ` is ${x.state}; new clients: ${x.new_clients}`))),
      a.candidates.map(x => h('li', h('span', obj('service', x.service), `: ${x.state}, weight ${x.weight}, ${x.active} on it`, x.why && ['; ', h('bdi', x.why)]))))];
}

function explainCard(v) {
  const input = (id, label, props) => field(`x-${id}`, label, null, h('input', { id: `x-${id}`, value: ask_[id], oninput: e => { ask_[id] = e.target.value; }, ...props }));
  return card('explain', 'Explain a request', null, [h('form.explain4', { onsubmit: e => { e.preventDefault(); explain(v.name); } },
    input('method', 'Method'), input('path', 'Path'), input('host', 'Host'), input('client', 'Client', { placeholder: '127.0.0.1' }), h('button.btn', { type: 'submit' }, 'Explain')),
  ask_.of === v.name && ask_.error && note('bad', 'bad', h('bdi', ask_.error)), ask_.of === v.name && ask_.answer && explained(ask_.answer)], { pad: true });
}

function one(v) {
  follow(v);
  const services = v.members.map(m => need(`m:${m.service}`).data).filter(Boolean);
  const stats = need('stats').data;
  sample(v, stats);
  const lat = [series.line('p99', ['p99', 'latency_p99', 'latency.p99', 'p99_ms']), series.line('p50', ['p50', 'latency_p50', 'latency.p50', 'p50_ms'])];
  const leaving = v.members.filter(m => /TROFS/.test(m.state));
  const on = need('on');
  const errors = stats && (stats.statuses_total || [])[4];
  return [crumb(link(at('vservers'), 'Vservers'), nm(v.name)),
    h('div.title', h('h1', nm(v.name)), stateBadges(v), h('span.ink2', v.effective_state !== v.state && `effective ${v.effective_state}, `, `health ${v.health}\u00a0% of weights, ${since(v.since)}`),
      h('div.btns', h('a.btn', { href: `${at('vservers', v.name)}?to=explain` }, 'Explain a request'), v.admin === 'DISABLED' ? act('Enable vserver…', o => ask(enable('vservers', v.name), o)) : act('Disable vserver…', o => ask(takeOut('vservers', v.name, 'vserver'), o)))),
    h('p.ink2', `${v.type} on `, h('code', nm(v.address || 'no address')), `, ${String(v.lb_method).toLowerCase()}, `, v.persistence && v.persistence !== 'NONE' ? `${v.persistence.toLowerCase()} persistence${v.persistence_timeout ? ` ${v.persistence_timeout}` : ''}. ` : 'no persistence. ',
      { own: v.role === 'cs' ? 'New clients go where its rules lead.' : 'New clients are served by its own members.', backup: 'New clients go to the backup.', redirected: 'New clients are redirected.', refused: 'New clients are refused.' }[v.new_clients]), v.comment && h('p.ink2', h('bdi', v.comment)),
    notices(v, services), h('div.cols', card('chain', 'Where new clients go now', v.members.some(m => m.share != null) ? 'last 10 s' : 'measured by this page, last 10 s', chain(v, services))),
    h('div.cols.c3', {  },
      plot(series, /HTTP|SSL/.test(v.type) ? 'Requests' : 'New connections', 'per second', [num(series.last('requests')), ' ', h('small', '/s', errors != null && `, ${num(errors)} answered 5xx since the start`)], [series.line('requests', ['requests', 'rate', 'requests_rate'])], { note: series.since('requests') }),
      plot(series, 'Latency', 'ms; solid p99, dashed p50', [num(series.last('p99')), ' ', h('small', 'ms p99, p50 ', num(series.last('p50')), ' ms')], lat, { area: false, note: series.since('p99') }),
      plot(series, 'Connections', 'open', [num(series.last('connections') ?? v.connections), ' ', h('small', `open, surge queue ${num(v.surge_count ?? v.surge ?? 0)}`)], [series.line('connections', ['connections', 'client_connections'])], { note: series.since('connections') })),
    v.role !== 'cs' && h('div.cols', card('members', `Members, ${num(v.members.length)}`, h('span.keys', 'focus a row: ', h('kbd', 'd'), ' drain ', h('kbd', 'e'), ' enable ', h('kbd', 'f'), ' force'), members(v, services))),
    cardOf(v),
    leaving.map(m => { const s = services.find(x => x.name === m.service); const d = s && s.drain; return h('div.cols', { key: `on-${m.service}` }, card(`on-${m.service}`, ['Still on ', nm(m.service), `, ${num(m.active)}`], d && [d.persistent_clients ? `${many(d.persistent_clients, 'client')} with persistence` : d.persistent_note || ''], [d && h('div.pad', bar(drained(d), '', `Drain of ${m.service}`)), connections({ items: on.items.filter(c => c.service === m.service) }, true)])); }),
    h('div.cols', card('on', 'Open connections', null, shows('on', d => connections(d)))), h('div.cols', explainCard(v))];
}

export function view([name], params) {
  if (name) return shows('vserver', one);
  return [h('div.title', h('h1', 'Vservers')), filters(params, 'vserver'), card('list', 'Vservers', null, shows('vservers', d => {
    const q = (params.q || '').toLowerCase();
    const rows = d.items.filter(v => !q || v.name.toLowerCase().includes(q));
    const rank = v => (v.new_clients === 'refused' ? 0 : v.state !== 'UP' ? 1 : v.health < 100 ? 2 : 3);
    rows.sort((a, c) => rank(a) - rank(c));
    return [table('Vservers', [
      { head: 'Vserver', wide: true, cell: v => [obj('vserver', v.name), h('br'), h('small', `${v.type} `, nm(v.address || 'no address'))] }, { head: 'State', wide: true, cell: v => [stateBadges(v), v.effective_state !== v.state && ` effective ${v.effective_state}`] },
      { head: 'New clients', cell: v => (v.new_clients === 'backup' ? ['backup ', obj('vserver', v.active_backup)] : v.new_clients === 'refused' ? h('b.bad', 'refused') : v.new_clients) }, { head: 'Health', num: true, cell: v => `${v.health}\u00a0%` },
      { head: 'Members', num: true, cell: v => `${v.members.filter(m => m.eligible).length} of ${v.members.length}` }, { head: 'Connections', num: true, cell: v => num(v.connections) }, { head: 'p99', num: true, cell: v => millis(p99(v.times)) }, { head: 'Since', cell: v => since(v.since) },
    ], rows, { none: params.q ? [`No vserver matches “${params.q}”. `, h('button', { type: 'button', class: 'btn quiet', onclick: () => setParams({ q: '' }) }, 'Clear')] : 'No vservers are defined; see example.toml.', row: v => ({ kind: 'vserver', name: v.name, class: rank(v) === 0 && v.state !== 'OFS' ? 'row-bad' : '' }) }), pager(d, params)];
  }))];
}
