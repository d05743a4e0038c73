// Services across vservers, one with its history, and checks: what is found on the server, page by page, problems first.
import { h, s } from './dom.js';
import { at, enc, many, millis, ms, num, seconds, span, wall } from './fmt.js';
import { need, net, now, query } from './net.js';
import { act, b, bar, card, checkBadge, crumb, left, link, nm, note, obj, shows, since, stateBadges, table, time } from './parts.js';
import { ask, drain, enable, force, kick, release } from './acts.js';
import { drained, waitsFor } from './status.js';
import { byWhom, connections, filters, p99, pager, probing, rowActs, tone } from './lists.js';
import { needs as renew, setParams } from './app.js';

const PAGE = 100;
/** Problems come first, whatever page is looked at. */
const OUT = 'DOWN,TROFS_DOWN,UNKNOWN,TROFS,OFS';
const STATES = [['', 'Any state, problems first'], ['DOWN', 'DOWN'], ['TROFS,TROFS_DOWN', 'Draining'], ['OFS', 'Out of service'], ['UNKNOWN', 'Unknown'], ['UP', 'UP']];

export const title = args => args[0] || 'Services';

export function needs([name], params) {
  const list = (state, limit) => ({ path: `/services${query({ limit, q: params.q, state, cursor: state === OUT ? '' : params.cursor })}`, kind: 'service', every: 10, keep: true });
  if (!name) return { services: list(params.state, PAGE), ...(params.state ? {} : { out: list(OUT, PAGE) }) };
  return {
    service: { path: `/services/${enc(name)}`, kind: 'service', one: true, refetch: ['check'], every: 5, keep: true },
    on: { path: `/connections${query({ service: name, limit: 200 })}`, refetch: ['service'], every: 5, keep: true },
    because: { path: `/explain/service${query({ name })}`, refetch: ['service', 'check'], every: 30, keep: true },
    states: { path: net.noHistory ? `/journal${query({ kind: 'state', since: '48h', newest_first: 'true', limit: 2000 })}` : `/history${query({ object: `service:${name}`, metric: 'state', from: '48h' })}`, refetch: ['service'] },
  };
}

const RANK = { DOWN: 0, TROFS_DOWN: 1, UNKNOWN: 2, TROFS: 3, OFS: 4, UP: 5 };

function list(data, params) {
  const out = params.state || params.cursor ? [] : need('out').items.filter(x => x.state !== 'UP');
  const names = new Set(out.map(x => x.name));
  const rows = [...out, ...data.items.filter(x => !names.has(x.name))].sort((a, c) => Number(Boolean(c.forced)) - Number(Boolean(a.forced)) || RANK[a.state] - RANK[c.state]);
  const what = params.q ? `No service matches “${params.q}”. ` : params.state ? 'No service is in this state. ' : null;
  return [table('Services', [
    { head: 'Service', wide: true, cell: x => [obj('service', x.name), h('br'), h('small', nm(x.address))] },
    { head: 'State', wide: true, cell: x => [stateBadges(x), ' ', h('span.dim', since(x.since)), byWhom(x) && [h('br'), byWhom(x)]] },
    { head: 'Vservers', cell: x => (x.vservers.length ? x.vservers.slice(0, 4).map((v, i) => [i ? ', ' : '', link(at('vservers', v), nm(v))]) : 'none') },
    { head: 'Now', num: true, cell: x => many(x.active, /TCP|UDP/.test(x.type) ? 'connection' : 'request') },
    { head: 'p99', num: true, cell: x => millis(p99(x.times)) },
    { head: 'Probe', wide: true, cell: probing }, { head: 'Acts', hide: true, wide: true, cell: rowActs },
  ], rows.slice(0, 200), { none: what ? [what, h('button', { type: 'button', class: 'btn quiet', onclick: () => setParams({ q: '', state: '' }) }, 'Clear')] : 'No services are defined; see example.toml.', row: x => ({ kind: 'service', name: x.name, class: tone(x) }) }), pager(data, params)];
}

// === one ===

const FILL = { UP: 'up', DOWN: 'bad', TROFS: 'warn', TROFS_DOWN: 'warn', OFS: 'off', UNKNOWN: 'unk' };
const WORD = { UP: 'UP', DOWN: 'DOWN', TROFS: 'Draining', TROFS_DOWN: 'Draining, probe down', OFS: 'Out of service', UNKNOWN: 'Unknown' };

/** 48 h in one band; its list says the same in words. */
function past(x) {
  const to = now(), from = to - 48 * 3600e3;
  const told = need('states');
  // Where the appliance keeps no history of states, its journal does.
  if (told.error && !net.noHistory) { net.noHistory = true; setTimeout(renew); }
  const moves = told.data && told.data.t
    ? told.data.t.map((at, i) => ({ at: ms(at), to: told.data.series.state[i], why: '' }))
    : told.items.filter(e => e.object === `service ${x.name}`).map(e => ({ at: ms(e.at), to: e.body.to, from: e.body.from, why: e.body.cause || '' })).reverse();
  const spans = [];
  let state = moves.length ? moves[0].from : x.state;
  let begun = Math.max(from, ms((need('status').data || {}).started_at) || from);
  for (const m of moves) { if (m.at > begun && state) spans.push([begun, m.at, state]); state = m.to; begun = Math.max(begun, m.at); }
  spans.push([begun, to, moves.length ? state : x.state]);
  const X = t => ((t - from) / (to - from)) * 1000;
  return card('past', 'The last 48 h', null, [h('div.pad', s('svg.past', { viewBox: '0 0 1000 12', preserveAspectRatio: 'none', role: 'img', 'aria-label': `States of ${x.name} over 48 h; the list below says the same` },
    spans.map(([a, z, st]) => s('rect', { class: `st ${FILL[st] || 'unk'}`, x: X(a).toFixed(2), y: 0, width: Math.max(1.5, X(z) - X(a)).toFixed(2), height: 12 }))),
  h('p.small.spread', h('span', wall(from, to)), h('span', 'now'))),
  h('ul', moves.slice(-12).reverse().map(m => h('li.term.two', h('span', time(new Date(m.at).toISOString()), ' ', h('b', WORD[m.to] || m.to)), m.why && h('span.read', h('bdi', m.why))))), !moves.length && h('p.empty', `It did not change${ms(x.since) < from ? '' : ' since it is watched'}.`)]);
}

function monitors(x) {
  return table('Monitors', [
    { head: 'Monitor', wide: true, cell: m => [link(at('checks', m.check || m.monitor), nm(m.name || m.monitor)), m.passive && ' shown, not counted'] }, { head: 'State', cell: m => (m.admin === 'DISABLED' ? b('', 'ofs', 'Disabled') : checkBadge(m)) }, { head: 'Since', cell: m => since(m.since) },
    { head: 'Said', wide: true, cell: m => h('bdi', m.last_error || m.answer || m.last_response || '–') }, { head: 'Took', num: true, cell: m => (m.latency ? span(seconds(m.latency)) : '–') }, { head: 'Failed', num: true, cell: m => `${num(m.failed_total)} of ${num(m.samples_total)}` },
  ], x.monitors || x.probes || [], { none: 'It is not probed.', row: m => ({ key: m.check || m.name }) });
}

const ends = d => (d.kind === 'monitor' ? 'Its monitor asks it to leave.' : d.deadline ? `Leaves in ${left(d.deadline)}${d.kind === 'both' ? ', or as soon as nobody is on it' : ''}.` : 'Leaves as soon as nobody is on it.');

function one(x) {
  const out = x.admin === 'DISABLED';
  const d = x.drain;
  return [crumb(link(at('services'), 'Services'), x.group && link(`${at('services')}?q=${enc(x.group + '/')}`, nm(x.group)), nm(x.name)),
    h('div.title', { 'data-kind': 'service', 'data-name': x.name }, h('h1', nm(x.name)), stateBadges(x), h('span.ink2', since(x.since)),
      h('div.btns', out ? act('Enable…', o => ask(enable('services', x.name), o)) : act('Drain…', o => ask(drain(x.name), o)), x.forced ? act('Release…', o => ask(release('services', x.name), o)) : act('Force…', o => ask(force('services', x.name), o)), act('Kick…', o => ask(kick(x.name, x.active), o)))),
    h('p.ink2', `${x.type} at `, h('code', nm(x.address)), x.server && [' on server ', nm(x.server)], '. ', x.vservers.length ? ['Bound to ', x.vservers.map((v, i) => [i ? ', ' : '', link(at('vservers', v), nm(v))]), '.'] : 'Bound to no vserver.', x.max_client ? ` At most ${num(x.max_client)} at once.` : ''), x.comment && h('p.ink2', h('bdi', x.comment)),
    d && note('warn', 'drain', h('b', ends(d)), ' ', waitsFor(d, x.active), bar(drained(d), '', `Drain of ${x.name}`)), byWhom(x) && note('hand', 'hand', byWhom(x)), x.resolved === false && note('warn', 'unk', 'The address of its server is not known.'), x.connect_failed && note('warn', 'info', 'It could not be reached the last time: ', h('bdi', x.connect_failed), x.connect_failed_ago && `, ${x.connect_failed_ago} ago`, '.'),
    h('div.cols.c2', card('because', 'Why it gets new clients, or none', null, shows('because', e => h('ul', e.because.map(w => h('li.term.two', h('span', h('b', w.what), ' ', nm(w.name)), h('span.read', h('bdi', w.says))))))), past(x)),
    h('div.cols', card('monitors', 'Monitors', null, monitors(x))),
    h('div.cols', card('on', `On it, ${num(x.active)}`, null, shows('on', c => connections(c, true))))];
}

export function view([name], params) {
  if (name) return shows('service', one);
  return [h('div.title', h('h1', 'Services'), h('div.btns', h('a.btn', { href: at('checks') }, 'Checks'))), filters(params, 'service', STATES), card('list', 'Services', h('span.keys', 'focus a row: ', h('kbd', 'd'), ' drain ', h('kbd', 'e'), ' enable ', h('kbd', 'f'), ' force ', h('kbd', 'x'), ' kick'), shows('services', d => list(d, params)))];
}
