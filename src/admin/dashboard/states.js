// Every component in every state, fed with recorded answers: for whoever builds and tests the dashboard.
import { h, icon } from './dom.js';
import { net, now } from './net.js';
import { answers, b, bar, beam, card, checkBadge, group, modes, nm, note, scenarioBadge, shown, site, stateBadges, table } from './parts.js';
import { chart } from './chart.js';
import { goesTo } from './names.js';
import { column, entry } from './triage.js';

export const title = () => 'Component states';

const iso = secs => new Date(now() + secs * 1000).toISOString();
const drain = (kind, extra) => ({ kind, started_at: iso(-133), deadline: kind === 'timed' ? iso(167) : null, ...extra });
const SERVICES = () => [
  ['UP', { state: 'UP', since: iso(-518400) }], ['DOWN', { state: 'DOWN', since: iso(-338) }], ['TROFS', { state: 'TROFS', drain: drain('timed') }],
  ['TROFS by its monitor', { state: 'TROFS', drain: drain('monitor') }], ['TROFS_DOWN', { state: 'TROFS_DOWN', drain: drain('timed') }], ['OFS', { state: 'OFS' }], ['UNKNOWN', { state: 'UNKNOWN' }],
  ['forced up, probe up', { state: 'UP', forced: 'up', real: 'UP' }], ['forced up, probe down', { state: 'UP', forced: 'up', real: 'DOWN' }], ['forced down', { state: 'DOWN', forced: 'down', real: 'UP' }], ['ejected', { state: 'UP', passive: 'ejected', ejected_for: '8s' }],
];
const SCENARIOS = [{ state: 'inactive' }, { state: 'activating' }, { state: 'active', ready_to_return: true }, { state: 'deactivating' }, { state: 'active', stuck: true, shown: 'stuck' }, { state: 'active', shown: 'manual out' }, { state: 'active', shown: 'forced' }, { state: 'inactive', shown: 'forced return' }, { state: 'active', shown: 'pinned', drill: 3 }, { state: 'inactive', shown: 'failover disabled' }, { state: 'inactive', shown: 'maintenance', oscillating: true }];
const MODES = [['auto', 'auto'], ['auto', 'off'], ['on', 'auto'], ['on', 'off', true], ['off', 'on'], ['on', 'on']];
const t = (value, extra) => ({ text: 'api-a{for:15m}', value, since: iso(-688), ...extra });
const GROUPS = () => [
  { name: 'true', value: 'true', armed: true, terms: [t('true', { reading: 'up, 38ms' }), t('true')] }, { name: 'false', value: 'false', armed: true, terms: [t('true'), t('false', { reading: 'down: connection refused' })] },
  { name: 'unknown', value: 'unknown', armed: true, terms: [t('unknown', { reading: 'no result yet' })] }, { name: 'holding', value: 'false', armed: true, terms: [t('false', { hold: { length: '15m', ends_at: iso(790) } })] },
  { name: 'disarmed', value: 'true', armed: false, terms: [t('true')] }, { name: 'measured', value: 'true', armed: true, terms: [t('true', { text: 'api-a{latency.p95<80ms}', measure: { value: '41ms', needs: '< 80ms', samples: 20, of: 20 } })] },
];
const NAMES = [['one site', [['198.51.100.10', 'dc-b']]], ['split', [['192.0.2.10', 'dc-a'], ['198.51.100.10', 'dc-b']]], ['no site told', [['192.0.2.10'], ['192.0.2.11'], ['192.0.2.12'], ['192.0.2.13']]], ['nobody', []]];
const ANSWERS = [{ name: 'www', type: 'A', before: ['198.51.100.10'], after: ['192.0.2.11'], left_out: [{ data: '192.0.2.10', because: 'left out by a-is-out' }], site_before: 'dc-b', site_after: 'dc-a', ttl: 30 }, { name: 'erp', type: 'A', before: ['192.0.2.50'], after: [], site_before: 'dc-a', site_after: null, ttl: 30 }];

const specs = list => h('ul.specs.pad', list.map(([name, ...what]) => h('li', h('span', what), h('span.small', name))));

export function view() {
  const to = now(), from = to - 1800e3;
  const wave = (gap, first = 0) => Array.from({ length: 180 }, (_, i) => [from + i * 10e3, i < first || (gap && i > 80 && i < 110) ? null : 500 + 300 * Math.sin(i / 14)]);
  return [h('div.title', h('h1', 'Component states')), h('p.ink2', 'Recorded, not live. ', { live: 'The appliance is heard.', lost: 'The appliance is not heard: countdowns stand still.' }[net.live] || ''),
    h('div.cols.c3', column('t-wrong', 'bad-c', 'bad', 'bad', 'Wrong', 'oldest 5 min 38 s', [entry('a', b('bad', 'bad', 'DOWN'), h('b', 'web1'), '5 min 38 s', 'Connection refused.')], ''), column('t-forced', 'hand-c', 'hand', 'hand', 'Forced by people', '1 never expires', [entry('a', [b('hand', 'hand', 'Forced up'), b('bad', 'bad', 'probe down')], h('b', 'pg1'), '38 s', ['“INC-4711”, a.brandt. ', h('b', 'No expiry.')])], ''), column('t-drain', 'warn-c', 'drain', 'warn', 'Draining', '', [entry('a', b('warn', 'drain', 'Draining 2:47'), h('b', 'web2'), 'of 5:00', '14 requests still on it.', bar(0.44, '', 'Drain of web2'))], '')),
    h('div.cols.c3', column('t-none', '', 'bad', 'bad', 'Wrong', '', [], 'Nothing wrong; the last time something was: 03:16:02.'), h('section.card.tri.clear', h('h2', 'Loading'), h('div.skel', { 'aria-hidden': 'true' }, h('i'), h('i'), h('i'))), h('section.card.tri.clear', h('h2', 'Error'), h('p.empty', h('span.bad', icon('bad')), ' ', h('b', '/status could not be read: the appliance does not answer.'), ' The rest of the page is live.'))),
    h('div.cols', card('live', 'Live state', null, specs([['heard', h('span.live', h('i'), h('span', 'Live'))], ['begins', h('span.live.wait', h('i'), h('span', 'Catching up'))], ['silent for 6 s', h('span.live.lost', h('i'), h('span', 'Not live'))]]))),
    h('div.cols', card('objects', 'Objects', null, specs(SERVICES().map(([name, o]) => [name, stateBadges(o)])))), h('div.cols', card('checks', 'Checks', null, specs([['up', checkBadge({ state: 'up' })], ['down', checkBadge({ state: 'down' })], ['unknown', checkBadge({ state: 'unknown' })], ['forced', checkBadge({ state: 'up', real: 'down', forced: 'up' })]]))),
    h('div.cols', card('scenarios', 'Scenarios', null, specs(SCENARIOS.map(s => [`${s.state} ${s.shown || ''}`, scenarioBadge(s), ' ', shown(s)])))), h('div.cols', card('modes', 'Modes', null, specs(MODES.map(([a, d, spent]) => [`${a} ${d}${spent ? ', has acted' : ''}`, modes({ mode_details: { activate: { mode: a, base: 'auto', spent }, deactivate: { mode: d, base: 'off' } } })])))),
    h('div.cols', card('beams', 'Beam', null, ['inactive', 'activating', 'active'].map(state => beam({ state, active: state === 'active' }, 'active, dc-b answers', 'inactive, dc-a answers')).concat(beam({ state: 'active', active: true, stuck: true }, 'active', 'inactive')), { pad: true })),
    h('div.cols.c3', GROUPS().map(group)), h('div.cols', card('names', 'Names', null, specs(NAMES.map(([name, list]) => [name, goesTo({ answers: list.map(([data, datacenter]) => ({ data, datacenter })) })]).concat([['serving', site('dc-b')], ['not serving', site('dc-a', false)]])))),
    h('div.cols', card('bars', 'Bars', null, [bar(0.44, '', 'Drain'), bar(null, '', 'Drain without an end'), bar(0.12, 'inkb', 'Hold'), bar(0.6, 'flow', 'Share')], { pad: true })), h('div.cols', card('answers', 'Answers', null, [answers(ANSWERS, 'If it moved'), answers([])], { pad: true })),
    h('div.stackd.first', note('', 'info', 'Information.'), note('warn', 'info', h('b', 'A warning.')), note('bad', 'bad', h('b', 'A fault.')), note('hand', 'hand', h('b', 'Done by a person.'))),
    h('div.cols.c3', card('c1', 'Data', null, chart('Data', [{ name: 'requests', points: wave() }], { from, to, marks: [{ at: to - 700e3, text: 'dr active' }] }), { pad: true }), card('c2', 'Gap', null, chart('Gap', [{ name: 'requests', points: wave(true) }], { from, to }), { pad: true }), card('c3', 'Filled from later on', null, chart('Later', [{ name: 'p99', points: wave(false, 120) }, { name: 'p50', points: wave(false, 120).map(p => [p[0], p[1] && p[1] / 3]) }], { from, to, area: false }), { pad: true })),
    h('div.cols.c2', card('rows', 'Rows', null, table('Rows', [{ head: 'Service', wide: true, cell: r => nm(r[0]) }, { head: 'State', cell: r => b(r[1], r[1] === 'warn' ? 'drain' : r[1], r[0]) }], [['wrong', 'bad'], ['leaving', 'warn'], ['forced', 'hand']], { row: r => ({ key: r[0], class: `row-${r[1]}` }) })), card('none', 'Nothing', null, [table('x', [], [], { none: 'No service matches “wbe”.' }), h('div.skel', { 'aria-hidden': 'true' }, h('i'), h('i'), h('i'))]))];
}
