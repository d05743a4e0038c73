// DNS: what every steered name answers and the step that decided each record; and why, for any name, client and moment.
import { h } from './dom.js';
import { at, enc, num, span } from './fmt.js';
import { now } from './net.js';
import { b, card, crumb, link, nm, note, shows, since, site, table, time } from './parts.js';
import { asked, explain, explainForm } from './explain.js';
import { becauseOf, goesTo, names } from './names.js';

export const title = args => args[0] || 'DNS and zones';
export const needs = ([name]) => {
  const refetch = ['scenario', 'check', 'zone', 'board', 'datacenter_pair'];
  return name ? { zone: { path: `/zones/${enc(name)}`, refetch, every: 15, keep: true } } : { zones: { path: '/zones', refetch, every: 15, keep: true }, scenarios: { path: '/scenarios?limit=500', kind: 'scenario' } };
};

// === a zone ===

const STEP = { base_set: 'set', filter: 'filter', on_empty: 'nothing left' };

function rrset(r, zone) {
  const empty = !r.answers.length;
  return h('div.cols', { key: r.name }, card(`rr-${zone}-${r.name}`, [nm((r.owner || r.name).replace(/\.$/, '')), ' ', r.type], [`TTL ${span(r.ttl)}`, r.select && `, ${r.select}`, r.answers_max && `, ${r.answers_max} an answer`], [
    h('div.pad', h('p', 'Goes to ', goesTo(r), ' because of ', becauseOf(r), '.', r.since && ` For ${since(r.since)}.`, r.caches_over_at && Date.parse(r.caches_over_at) > now() && [' Caches may hold the old answer until ', time(r.caches_over_at), '.'], r.ttl_because && [' ', h('bdi', r.ttl_because), '.']),
      empty && note('bad', 'bad', h('b', 'It answers nobody.')), (r.fallback || r.fail_open) && note('bad', 'bad', h('b', 'Fail-open. '), `No record is left; ${r.fallback === 'serve_all' || r.fail_open ? 'all are answered as they are' : `${r.fallback} decides`}.`)),
    table(`Records of ${r.name}`, [
      { head: 'Record', wide: true, cell: x => h('code', x.served ? nm(x.data) : h('del', nm(x.data))) }, { head: 'Answered', cell: x => (x.served ? h('b', 'yes') : 'no') },
      { head: 'Site', cell: x => (x.datacenter ? site(x.datacenter, x.served) : '–') }, { head: 'Decided by', cell: x => STEP[x.step] || x.step },
      { head: 'Because', wide: true, cell: x => [h('bdi', x.because), x.scenario && [' (', link(at('scenarios', x.scenario), nm(x.scenario)), ')']] },
      { head: 'Conditions', wide: true, cell: x => [x.cond && ['cond ', nm(x.cond), ' '], x.drCond && ['drCond ', nm(x.drCond), ' '], x.check && ['check ', h('code', nm(x.check)), ` ${x.check_value}`]].filter(Boolean) },
      { head: 'Weight', num: true, cell: x => num(x.weight) },
    ], r.records || [], { row: x => ({ key: x.data }) }),
    (r.by_set || r.served || []).length ? h('p.pad.small', 'Answers since the start: ', Object.entries(r.by_set && !Array.isArray(r.by_set) ? r.by_set : Object.fromEntries((r.by_set || r.served).map(x => [x.set, x.total]))).map(([k, v], i) => `${i ? ', ' : ''}${num(v)} from ${k}`)) : null]));
}

function transferred(t) {
  if (!t) return null;
  const kind = t.state === 'current' ? '' : 'bad';
  return note(kind, kind ? 'bad' : 'info', h('b', `Transferred: ${t.state}. `), `From ${t.primaries.join(', ')}`, t.serial != null && `, serial ${t.serial}`, t.confirmed_at && [', confirmed ', time(t.confirmed_at)], t.expires_at && [', expires ', time(t.expires_at)], t.last_error && ['. ', h('bdi', t.last_error)], '.');
}

export function view([name], params) {
  if (name) {
    return shows('zone', z => [crumb(link(at('dns'), 'DNS and zones'), nm(z.name)), h('div.title', h('h1', nm(z.name)), h('span.ink2', `serial ${z.serial}, TTL ${z.ttl}, ${num(z.static_records)} records that nothing steers`)), transferred(z.transfer),
      z.rrsets.map(r => rrset(r, z.name)), !z.rrsets.length && h('p.empty', 'No names of this zone are steered.'), z.ds && z.ds.length ? h('div.cols', card('ds', 'For the parent zone', 'DS', h('p', z.ds.map(d => h('code.line', nm(d)))), { pad: true })) : null]);
  }
  if (params.name && params.name !== asked.from) { Object.assign(asked, { name: params.name, type: params.type || 'A', client: params.client || '', at: params.at || '', from: params.name, answer: null }); setTimeout(explain); }
  return [h('div.title', h('h1', 'DNS and zones')), h('div.cols.first', card('why', 'Why this answer', 'nothing is counted by asking', explainForm('dns'), { pad: true })),
    h('div.cols', card('names', 'Where names go now', null, shows('zones', z => names(z.items, 200)))),
    h('div.cols', card('zones', 'Zones', null, shows('zones', z => table('Zones', [
      { head: 'Zone', wide: true, cell: x => h('a.obj', { href: at('dns', x.name) }, nm(x.name)) }, { head: 'Serial', num: true, cell: x => String(x.serial) }, { head: 'Steered', num: true, cell: x => num(x.rrsets.length) }, { head: 'Other records', num: true, cell: x => num(x.static_records) },
      { head: 'From', wide: true, cell: x => (x.transfer ? [x.transfer.state === 'current' ? '' : b('bad', 'bad', x.transfer.state), ' ', x.transfer.primaries.join(', ')] : 'the configuration') },
    ], z.items, { none: 'No zones are defined; see example.toml.', row: x => ({ kind: 'zone', name: x.name }) }))))];
}
