// The page that is open at three in the morning: what is so, why, what is wrong, what people did, what is leaving.
import { h } from './dom.js';
import { at, ms, num, span, wall, who } from './fmt.js';
import { need, now } from './net.js';
import { act, b, bar, card, link, modes, nm, obj, scenarioBadge, shown, shows, since, stateBadges, table, time } from './parts.js';
import { ask, changeModes, drain, enable, flip, force, release, replay, returns } from './acts.js';
import { explainForm } from './explain.js';
import { goings, names } from './names.js';
import { picture } from './pair.js';
import { column, entry } from './triage.js';
import { drained, forced, sentence, verdict, waitsFor, wrong } from './status.js';

export const title = () => 'Overview';
export const needs = () => ({
  zones: { path: '/zones', refetch: ['scenario', 'check', 'zone', 'board', 'datacenter_pair'], every: 30, keep: true },
  pairs: { path: '/datacenter-pairs', kind: 'datacenter_pair', refetch: ['scenario', 'peer', 'board', 'check'], every: 30, keep: true },
  scenarios: { path: '/scenarios?limit=500', kind: 'scenario', keep: true },
  vservers: { path: '/vservers?limit=100', kind: 'vserver', every: 10, keep: true },
  dead: { path: '/outbox?status=dead&limit=50', refetch: ['trigger', 'scenario'] },
});

function wrongs(status) {
  const dead = need('dead').items;
  return wrong(status).map(p => {
    const delivery = p.kind === 'trigger' && dead.find(d => d.trigger === p.object);
    const word = { service: 'DOWN', vserver: 'DOWN', trigger: 'Not delivered', certificate: 'Certificate', peer: 'Peer', appliance: 'Box' }[p.kind] || p.kind.replace(/_/g, ' ');
    return entry(`${p.kind}/${p.object}/${p.text}`, b(p.severity === 'error' || word === 'DOWN' ? 'bad' : 'warn', p.severity === 'error' || word === 'DOWN' ? 'bad' : 'info', word),
      p.object ? obj(p.kind, p.object) : null, p.since ? since(p.since) : '', h('bdi', sentence(p.text)),
      delivery && h('div.btns', act('Deliver again…', o => ask(replay(delivery), o), { quiet: true })));
  });
}

const PATHS = { check: 'checks', service: 'services', vserver: 'vservers', server: 'servers', service_group: 'service-groups' };

function forces(status) {
  return forced(status).map(f => {
    const badge = f.kind === 'scenario'
      ? f.slots.map(s => b('hand', 'hand', `${s.slot} ${s.value}`))
      : f.slots.map(s => b('hand', 'hand', s.slot === 'force' ? `Forced ${s.value}` : s.slot === 'admin' ? 'Disabled' : s.slot === 'value' ? (s.value === 'true' ? 'on' : 'off') : `${s.slot} ${s.value}`));
    const expires = f.slots.map(s => s.expires).filter(Boolean).sort()[0];
    const sc = f.kind === 'scenario' && need('scenarios').items.find(s => s.name === f.object);
    const undo = f.slots.some(s => s.slot === 'force') ? ['Release…', release(PATHS[f.kind], f.object)]
      : f.kind === 'switch' ? [`Turn ${f.value === 'true' ? 'off' : 'on'}…`, flip(f.object, f.value !== 'true')]
        : f.slots.some(s => s.slot === 'admin') ? ['Enable…', enable(PATHS[f.kind], f.object)]
          : sc ? (sc.active ? ['Return…', returns(sc)] : ['Change modes…', changeModes(sc)]) : null;
    return entry(`${f.kind}/${f.object}`, [badge, f.disagrees && b('bad', 'bad', f.value === 'up' ? 'probe down' : 'probe up')], obj(f.kind, f.object), since(f.since),
      [f.reason && h('bdi', `“${f.reason}”, `), nm(who(f.actor)), '. ', expires ? `Ends ${wall(expires, now())}.` : h('b', 'No expiry.'),
        f.disagrees && (f.value === 'up' ? ' It keeps clients on what does not answer its probe.' : ' Its probe passes.')],
      undo && h('div.btns', act(undo[0], o => ask(undo[1], o), { quiet: true })));
  });
}

function drains(status) {
  return status.draining.map(d => {
    const set = status.overrides.find(o => o.object === d.service && o.slot === 'admin');
    const share = drained(d.drain);
    const ends = d.drain.deadline || d.drain.ends_at;
    const whole = ends && ms(ends) - ms(d.drain.started_at);
    const reason = d.drain.reason || (set && set.reason);
    return entry(d.service, stateBadges({ state: d.state, drain: d.drain }), obj('service', d.service), whole ? `of ${Math.floor(whole / 60000)}:${String(Math.round(whole / 1000) % 60).padStart(2, '0')}` : since(d.drain.started_at),
      [waitsFor(d.drain, d.active), reason && h('bdi', ` “${reason}”`), set && [', ', nm(who(set.actor)), '.']],
      [bar(share, '', `Drain of ${d.service}`), h('div.btns', link(`${at('services', d.service)}?to=on`, 'Who is on it'),
        d.drain.kind !== 'monitor' && act('Enable…', o => ask(enable('services', d.service), o), { quiet: true }))]);
  });
}

function restless(list) {
  const rows = list.filter(s => s.state !== 'inactive' || s.stuck || /forced|pinned|disabled/.test(s.shown) || s.ready_to_return);
  return table('Scenarios not at rest', [
    { head: 'Scenario', wide: true, cell: s => [obj('scenario', s.name), ' ', scenarioBadge(s), ' ', shown(s)] },
    { head: 'Modes', cell: modes }, { head: 'Since', cell: s => since(s.since) },
  ], rows, { none: list.length ? `All ${num(list.length)} are at rest.` : 'No scenarios are defined. They decide which DNS records answer; see example.toml.', row: s => ({ kind: 'scenario', name: s.name }) });
}

function balanced(list) {
  const rank = v => ({ DOWN: 0, OFS: 1 }[v.effective_state || v.state] ?? (v.health < 100 ? 2 : 3));
  const rows = [...list].sort((a, c) => rank(a) - rank(c)).slice(0, 10);
  return [table('Vservers', [
    { head: 'Vserver', wide: true, cell: v => [obj('vserver', v.name), ' ', stateBadges(v)] },
    { head: 'New clients', cell: v => ({ own: 'own members', backup: ['backup ', v.active_backup && obj('vserver', v.active_backup)], refused: h('b.bad', 'refused') }[v.new_clients] || v.new_clients) },
    { head: 'Health', num: true, cell: v => `${v.health}\u00a0%` }, { head: 'Connections', num: true, cell: v => num(v.connections) },
  ], rows, { none: 'No vservers are defined; see example.toml.', row: v => ({ kind: 'vserver', name: v.name, class: v.new_clients === 'refused' && v.state !== 'OFS' ? 'row-bad' : '' }) }),
  list.length > rows.length ? h('p.pad', link(at('vservers'), 'All vservers')) : null];
}

export function view() {
  const status = need('status').data;
  if (!status) return [h('h1.vh', 'Overview'), shows('status', () => null)];
  const v = verdict(status);
  const w = wrongs(status), f = forces(status), d = drains(status);
  const oldest = status.problems.map(p => p.since).filter(Boolean).sort()[0];
  const never = forced(status).filter(x => !x.slots.some(s => s.expires)).length;
  const endless = status.draining.filter(x => drained(x.drain) == null).length;
  const pair = need('pairs').items[0];
  const last = need('scenarios').items.map(s => s.last_transition).filter(Boolean).sort((a, c) => ms(c.committed_at) - ms(a.committed_at))[0];
  return [
    h('section.verdict', { 'aria-labelledby': 'v' }, h('div', h('h1', { id: 'v' }, h('bdi', v.text)),
      need('zones').data && goings(need('zones').items),
      v.because && h('p', h('bdi', v.because)),
      v.next && v.next.at && ms(v.next.at) > now() && h('p', `Next: ${v.next.who === 'person' ? 'a person, from ' : 'by itself at '}`, h('b', time(v.next.at)), ' on.')),
    last && now() - ms(last.committed_at) < 86400e3 ? h('div.btns', h('a.btn.pri', { href: at('timeline', last.scenario, String(last.seq)) }, 'See how it moved')) : null),
    h('div.cols.c3', {  },
      column('wrong', 'bad-c', 'bad', 'bad', 'Wrong', oldest && w.length ? `oldest ${since(oldest)}` : '', w, ['Nothing wrong', status.last_problem_at && `; the last time something was: ${wall(status.last_problem_at, now())}`, '.']),
      column('forced', 'hand-c', 'hand', 'hand', 'Forced by people', never ? `${never} never ${never === 1 ? 'expires' : 'expire'}` : '', f, 'Nothing is forced: everything follows its checks.'),
      column('draining', 'warn-c', 'drain', 'warn', 'Draining', endless ? `${endless} ${endless === 1 ? 'has' : 'have'} no end` : '', d, 'Nothing is leaving.')),
    h('div', { class: pair ? 'cols c21' : 'cols' }, card('names', 'Where names go now', h('span.site', 'serving'), shows('zones', z => names(z.items, 12))),
      pair && card('pair', [nm(pair.active), ' and ', nm(pair.backup)], h('a', { href: at('datacenters') }, 'Pair ', nm(pair.name)), picture(pair), { pad: true })),
    h('div.cols.c2', card('restless', 'Scenarios not at rest', link(at('scenarios'), 'All'), shows('scenarios', s => restless(s.items))),
      card('vs', 'Vservers', link(at('vservers'), 'All'), shows('vservers', x => balanced(x.items)))),
    h('div.cols', card('why-card', 'Why this answer', null, explainForm('overview'), { pad: true })),
  ];
}
