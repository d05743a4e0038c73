// Pairs of data centres: what is seen, what that means, who serves, and taking a site out by hand.
import { h, s } from './dom.js';
import { at, clock, ms, num } from './fmt.js';
import { need, now } from './net.js';
import { act, b, card, link, nm, note, obj, scenarioBadge, shows, since, table, time, tv } from './parts.js';
import { ask, flip } from './acts.js';
import { picture } from './pair.js';

export const title = () => 'Data centres';
export const needs = () => ({
  pairs: { path: '/datacenter-pairs', kind: 'datacenter_pair', refetch: ['scenario', 'peer', 'board', 'check', 'switch'], every: 30 },
  centres: { path: '/datacenters', refetch: ['check', 'board', 'switch', 'peer'], every: 10 },
  peers: { path: '/peers', kind: 'peer', every: 10 },
  scenarios: { path: '/scenarios?limit=500', kind: 'scenario' },
});

function pairCard(pair) {
  const scenarios = need('scenarios').items;
  return h('div.cols.c21.first', { key: pair.name },
    card(`p-${pair.name}`, ['Pair ', nm(pair.name)], pair.disputed ? b('bad', 'unk', 'Disputed') : null, [
      pair.disputed && note('warn', 'unk', h('b', 'Disputed. '), 'We cannot reach ', nm(pair.active), '; it says that it is fine. Nothing moves.', pair.disputed_since && [' Since ', time(pair.disputed_since), '.']),
      picture(pair, true)], { pad: true }),
    h('div.stackd', card(`s-${pair.name}`, 'What decides', null, h('ul', (pair.signals || []).map(x => h('li.term', tv(x.value), h('code', nm(x.name)), h('span.age', x.value), h('span.read', nm(x.id)))))),
      card(`f-${pair.name}`, 'Its scenarios', null, table('Scenarios of the pair', [
        { head: 'Place', cell: x => x.place }, { head: 'Scenario', wide: true, cell: x => obj('scenario', x.scenario) },
        { head: 'State', cell: x => scenarioBadge(scenarios.find(sc => sc.name === x.scenario) || { state: x.active ? 'active' : 'inactive' }) },
      ], pair.scenarios))));
}

function sig(name, x) {
  const hold = x.hold && x.hold.ends_at && ms(x.hold.ends_at) > now() ? x.hold : null;
  const of = x.quorum == null ? '' : `${x.up} of ${x.targets.length} up, needs ${x.quorum}`;
  return h('li.term', { key: name }, tv(x.value, hold), h('code', name),
    h('span.age', hold ? `holding until ${clock((ms(hold.ends_at) - now()) / 1000)}` : x.value, x.since ? ` ${since(x.since)}` : ''),
    h('span.read', [of, x.observer && `seen by ${x.observer}`, x.heard_at && `heard ${since(x.heard_at)} ago`].filter(Boolean).join(', '),
      x.targets && x.targets.map(t => h('span.tgt', b(t.state === 'up' ? 'up' : t.state === 'down' ? 'bad' : '', t.state === 'up' ? 'up' : t.state === 'down' ? 'bad' : 'unk', t.state), ' ', link(at('checks', t.check), nm(t.target))))));
}

function centre(dc) {
  const m = dc.signals.maintenance;
  const on = m && m.value === 'true';
  return card(`dc-${dc.name}`, nm(dc.name), dc.here ? 'this box stands here' : null, [
    h('ul', ['wan', 'lan', 'access', 'internet', 'maintenance'].filter(k => dc.signals[k]).map(k => sig(k, dc.signals[k]))),
    h('div.pad.btns', act(on ? `End maintenance of ${dc.name}…` : `Maintenance of ${dc.name}…`, o => ask({ ...flip(`${dc.name}.maintenance`, !on, on ? `End maintenance of ${dc.name}` : `Take ${dc.name} out for maintenance`),
      intro: on ? `${dc.name} may answer again.` : `${other(dc.name)} answers for ${dc.name} as long as it lasts.`, to: on ? 'let it answer' : `take ${dc.name} out` }, o))),
  ]);
}

function other(name) {
  const pair = need('pairs').items.find(p => p.active === name || p.backup === name);
  return pair ? (pair.active === name ? pair.backup : pair.active) : 'No other site';
}

export function view() {
  return [h('div.title', h('h1', 'Data centres')),
    shows('pairs', p => (p.items.length ? p.items.map(pairCard) : card('nopair', 'Pairs', null, h('p.empty', 'No pair is defined. A datacenter_pair makes the four scenarios that move traffic between two sites.')))),
    h('div.cols.c2', shows('centres', c => (c.items.length ? c.items.map(centre) : h('p.empty', 'No data centres are defined.')))),
    h('div.cols', card('peers', 'Other boxes', null, shows('peers', p => table('Other boxes', [
      { head: 'Box', wide: true, cell: x => [nm(x.name), ' at ', nm(x.site)] }, { head: 'State', cell: x => (x.state === 'heard' ? b('up', 'up', 'heard') : b('', 'unk', x.error || 'not heard')) },
      { head: 'Heard', cell: x => (x.heard_at ? `${since(x.heard_at)} ago` : 'never') },
      { head: 'Configuration', wide: true, cell: x => (x.config_differs ? h('span.bad', `differs in ${x.config_differs_in.join(', ')}`) : x.config_hash ? 'the same where it must be' : 'not known') },
      { head: 'Clock', num: true, cell: x => (x.clock_offset == null ? '–' : `${num(x.clock_offset)}\u00a0s`) },
    ], p.items, { none: 'No other box is asked.', row: x => ({ kind: 'peer', name: x.name }) })))),
  ];
}
