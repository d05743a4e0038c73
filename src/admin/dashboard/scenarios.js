// Scenarios: the list, and one with both of its directions beside each other, every term live.
import { h } from './dom.js';
import { at, clock, enc, many, ms, num, wall, who } from './fmt.js';
import { call, need, net, now, query } from './net.js';
import { act, answers, b, bar, beam, card, crumb, group, link, modeOf, modeText, modes, nm, note, obj, scenarioBadge, shown, shows, since, table, time } from './parts.js';
import { activates, ask, changeModes, decide, flip, returns } from './acts.js';
import { filters, pager } from './lists.js';
import { repaint, setParams } from './app.js';

export const title = args => (args[0] ? args[0] : 'Scenarios');
const PAGE = 100;

export function needs([name], params) {
  if (!name) {
    return {
      scenarios: { path: `/scenarios${query({ limit: PAGE, q: params.q, cursor: params.cursor })}`, kind: 'scenario', keep: true },
      switches: { path: '/switches', kind: 'switch' },
    };
  }
  const path = `/scenarios/${enc(name)}`;
  return {
    scenario: { path, kind: 'scenario', one: true, refetch: ['check', 'board', 'vserver', 'service', 'switch', 'trigger'], every: 5, keep: true },
    moves: { path: `${path}/transitions?limit=1000`, refetch: ['scenario', 'trigger'] },
  };
}

// === what DNS would answer if it moved ===

let ahead = { name: '', seq: -1, data: null, error: null, busy: false, at: -1e9 };

async function preview(sc) {
  const seq = `${sc.seq}/${sc.state}`;
  const same = ahead.name === sc.name && ahead.seq === seq;
  if (ahead.busy || (same && performance.now() - ahead.at < 10000) || net.live === 'lost') return;
  ahead = { ...ahead, name: sc.name, seq, busy: true, data: same ? ahead.data : null };
  const spec = sc.active ? returns(sc) : activates(sc);
  try {
    ahead = { ...ahead, data: await call('PUT', `${spec.path}?dry_run=true`, { ...spec.body({}), reason: 'preview' }), error: null };
  } catch (error) { ahead = { ...ahead, error, data: null }; }
  ahead.busy = false;
  ahead.at = performance.now();
  ahead.when = now();
  repaint();
}

function would(sc) {
  const verb = sc.active ? 'returned' : 'activated';
  if (ahead.name !== sc.name) return h('p.empty', 'Asking what it would do…');
  if (ahead.error) return h('p.empty', ahead.error.status === 501 ? 'This appliance cannot say beforehand what this act would do.' : ahead.error.message);
  if (!ahead.data) return h('p.empty', 'Asking what it would do…');
  return [answers(ahead.data.answers || [], `If ${sc.name} is ${verb} now`), (ahead.data.warnings || []).map(w => note('warn', 'info', h('bdi', w)))];
}

const sites = () => {
  const a = (ahead.data && ahead.data.answers) || [];
  const pick = key => [...new Set(a.map(x => x[key]).filter(Boolean))].join(', ');
  return [pick('site_before'), pick('site_after')];
};

// === one ===

const forced = t => t.cause === 'forced' || (!t.group && t.actor !== 'auto' && t.actor !== 'system');
const DIR = { activate: 'Activate', deactivate: 'Deactivate' };

function says(sc, d, leading) {
  const groups = sc.groups[d];
  const yes = groups.filter(g => g.value === 'true');
  const mode = modeOf(sc, d).mode;
  const truth = !groups.length ? 'No condition.' : yes.length ? `${yes.length === 1 ? 'One group is' : `${yes.length} groups are`} true.` : groups.some(g => g.value === 'unknown') ? 'No group is true; not all is known.' : 'No group is true.';
  if (!leading) {
    const there = d === 'activate' ? 'active' : 'inactive';
    const later = yes.some(g => g.armed === false) ? ' It counts again once it was false.' : '';
    return `${truth} Already ${there}, so nothing to do.${later}`;
  }
  if (sc.attempt && sc.attempt.direction === d) return `${truth} Its guard runs.`;
  if (mode === 'off') return [truth, ` Would not act by itself${yes.length ? '' : ' if one were'}. `, d === 'deactivate' && ['You are told when one is: ', h('b', 'ready to return'), '.']];
  if (mode === 'on') return modeOf(sc, d).spent ? `${truth} The mode on has acted; it does not act again.` : `${truth} The mode is on: it moves without its condition.`;
  return yes.some(g => g.armed !== false) ? `${truth} It moves by itself.` : yes.length ? `${truth} It counts again once it was false.` : `${truth} It moves by itself once one is.`;
}

function steps(sc, d, leading) {
  const last = sc.last_transition && sc.last_transition.direction === d ? sc.last_transition : null;
  const done = last && !leading;
  const rules = (sc.guard || {})[d];
  const gate = (sc.gate || {})[d];
  const names = (sc.triggers || {})[d];
  const out = [];
  const li = (kind, ...text) => out.push(h('li', { class: kind }, ...text));
  const attempt = sc.attempt && sc.attempt.direction === d ? sc.attempt : null;
  if (attempt) {
    (attempt.runs || []).forEach(r => li(r.outcome === 'pass' ? 'done' : r.outcome === 'refuse' ? 'err' : '', h('b', 'Guard ', nm(r.name)), ` ${r.outcome.replace('_', ' ')}`, r.value != null && `: ${r.value}`, r.expect && `, needs ${r.expect}`, r.took && ` in ${r.took}`));
    li('', h('b', `Attempt ${attempt.id}`), ` ${attempt.detail}; until ${wall(attempt.deadline, now())}`);
  } else if (done && last.guard) li('done', h('b', 'Guard'), ` ${last.guard.outcome}: `, h('bdi', last.guard.detail));
  else if (rules) li('', h('b', 'Guard ', rules.run.map((r, i) => [i ? ', ' : '', nm(r)]), rules.approve && `${rules.run.length ? ' and ' : ''}a person`), ` must pass within ${rules.deadline}; where nothing can be told: ${rules.on_timeout}.`);
  else if (rules === null || (done && !last.guard)) li(done ? 'done' : '', h('b', 'No guard'));
  if (done) {
    li('done', h('b', 'Committed'), ' ', time(last.committed_at, 3), ', ', forced(last) ? h('span.hand', `forced by ${who(last.actor)}`) : h('bdi', last.group || last.cause), last.reason && h('bdi', `, “${last.reason}”`));
    if (last.gate && last.gate !== 'true') li('', h('b', 'Gate'), ` was ${last.gate}: no trigger, and none later`);
    last.triggers.forEach(t => li(t.status === 'dead' ? 'err' : t.status === 'delivered' ? 'done' : '', h('b', nm(t.name)), ' ',
      t.status === 'dead' ? [h('span.bad', 'not delivered'), `, ${many(t.attempts, 'attempt')}: `, h('bdi', t.last_error || ''), ' ', link(at('outbox'), 'Deliver again')]
        : t.status === 'suppressed' ? 'held back' : `${t.status}${t.attempts ? ` on attempt ${t.attempts}` : ''}`));
  } else {
    if (gate) li('', h('b', 'Gate '), h('code', nm(gate.groups.join(' or '))), ` is ${gate.value} now`, gate.value === 'true' ? '' : ': it would send no trigger, and none later');
    (names || []).forEach(n => li('', h('b', nm(n)), gate && gate.value !== 'true' ? ' would be held back' : ' would be told'));
    if (names && !names.length) li('', h('b', 'Nobody is told'));
  }
  return out.length ? h('ol.steps', out) : null;
}

function lane(sc, d) {
  const active = sc.active ?? sc.state === 'active';
  const leading = (d === 'activate') !== active;
  const m = modeOf(sc, d);
  const last = sc.last_transition && sc.last_transition.direction === d && !leading ? sc.last_transition : null;
  const groups = sc.groups[d];
  return h('section', { class: `lane ${leading ? 'out' : 'rest'}`, 'aria-labelledby': `lane-${d}`, key: d },
    h('header', h('h2', { id: `lane-${d}` }, DIR[d]), b(m.mode === 'on' ? 'hand' : 'line', m.mode === 'on' ? 'hand' : null, ['mode\u00a0', h('code', m.mode)], modeText(m)),
      h('span.r.dim', last ? ['fired ', time(last.committed_at)] : m.base && m.base !== m.mode ? `base mode ${m.base}` : '')),
    h('p.says', says(sc, d, leading)),
    m.actor && h('p.small', h('span.hand', h('bdi', `${modeText(m)}.`))),
    groups.map((g, i) => [i ? h('p.or', 'or') : null, group(g)]), steps(sc, d, leading));
}

function notice(sc) {
  const a = sc.attempt;
  const out = [];
  if (a && (a.awaiting_approval ?? /approv|person|wait/i.test(a.detail))) {
    out.push(note('hand', 'hand', h('b', nm(sc.name), ` wants to ${a.direction} and waits for a person until `, time(a.deadline), '.'), ` Attempt ${a.id}, since `, time(a.started_at), '. ',
      (a.runs || []).map(r => [nm(r.name), `: ${r.value ?? r.outcome}${r.expect ? `, needs ${r.expect}` : ''}. `]), h('bdi', a.detail),
      bar((now() - ms(a.started_at)) / (ms(a.deadline) - ms(a.started_at)), '', 'Time to decide'),
      h('div.btns.gap', act(`Approve attempt ${a.id}…`, o => ask(decide(sc, 'approve'), o)), act('Refuse…', o => ask(decide(sc, 'refuse'), o)))));
  } else if (a) out.push(note('', 'wait', h('b', `Wants to ${a.direction}. `), h('bdi', a.detail), `; ${clock((now() - ms(a.started_at)) / 1000)} of ${clock((ms(a.deadline) - ms(a.started_at)) / 1000)}.`));
  if (sc.stuck) out.push(note('bad', 'bad', h('b', 'Stuck. Nothing moves until one direction changes. '), h('bdi', sc.stuck_reason || 'Both directions are on.')));
  if (sc.oscillating) out.push(note('bad', 'bad', h('b', 'Oscillating. '), 'Too many automatic commits: it is held where it is.'));
  if (sc.ready_to_return && !sc.next) out.push(note('', 'wait', h('b', 'Ready to return. '), 'The way back is clear. A person returns it.'));
  if (sc.drill) out.push(note('hand', 'hand', h('b', `It stands here by drill ${sc.drill}.`)));
  const n = sc.next;
  if (n && n.what && !out.some(x => x.classList.contains('hand'))) out.push(note('', 'wait', h('b', nm(sc.name), ' ', h('bdi', n.what), n.at ? [', at the earliest ', time(n.at)] : '', '.'), n.needs && [' It needs: ', h('bdi', n.needs), '.'], sc.earliest_return && !n.at && [' The earliest return is ', time(sc.earliest_return), '.']));
  else if (!n && !out.length) {
    const out_ = (sc.active ?? sc.state === 'active') ? 'deactivate' : 'activate';
    const mode = modeOf(sc, out_).mode;
    out.push(note('', 'wait', mode === 'off' ? h('b', `Stays ${sc.state} until a person moves it`) : h('b', `Stays ${sc.state} until a group of ${out_} is true`), mode === 'off' ? `, because ${out_} is off.` : '.'));
  }
  return out;
}

function one(sc, moves) {
  setTimeout(() => preview(sc));
  const active = sc.active ?? sc.state === 'active';
  const [here, there] = sites();
  const uses = [...new Set((sc.affected || []).map(a => `${a.zone}/${a.rrset}`))];
  const transitions = [...moves].reverse();
  return [
    crumb(link(at('scenarios'), 'Scenarios'), nm(sc.name)),
    h('div.title', h('h1', nm(sc.name)), scenarioBadge(sc), shown(sc), modes(sc), h('span.ink2', 'since ', time(sc.since), ` (${since(sc.since)}), seq ${sc.seq}`),
      h('div.btns', act('Change modes…', o => ask(changeModes(sc), o), { id: 'modes' }),
        active ? act(`Return ${sc.name}${there ? ` to ${there}` : ''}…`, o => ask(returns(sc, there), o), { id: 'return' }) : act(`Activate ${sc.name}…`, o => ask(activates(sc, there), o), { id: 'activate' }))),
    h('p.ink2', sc.about && h('bdi', `${sc.about}. `),
      sc.affected && ['Steers ', uses.length ? uses.map((u, i) => [i ? ', ' : '', link(at('dns', u.split('/')[0]), nm(u.split('/').slice(1).join('/')))]) : 'no name', '; used by ', (sc.used_by || []).length ? sc.used_by.map((u, i) => [i ? ', ' : '', nm(u)]) : 'nothing else', '.'],
      sc.pair && [' Made for pair ', link(at('datacenters'), nm(sc.pair)), '.']),
    notice(sc),
    beam({ ...sc, active }, `active${active && here ? `, ${here} answers` : !active && there ? `, ${there} answers` : ''}`, `inactive${!active && here ? `, ${here} answers` : active && there ? `, ${there} answers` : ''}`),
    h('div.lanes', lane(sc, 'activate'), lane(sc, 'deactivate')),
    h('div.cols.c2', card('would', 'What DNS would answer', ahead.name === sc.name && ahead.when && !ahead.error ? `computed ${wall(ahead.when, now())}` : null, would(sc), { pad: true }),
      card('moves', `Transitions, ${num(moves.length)}`, null, table(`Transitions of ${sc.name}`, [
        { head: 'Seq', num: true, cell: t => link(at('timeline', sc.name, String(t.seq)), num(t.seq)) }, { head: 'Direction', cell: t => t.direction }, { head: 'When', cell: t => time(t.committed_at) },
        { head: 'Cause', wide: true, cell: t => [forced(t) ? [h('span.hand', 'forced'), ', ', nm(who(t.actor))] : h('bdi', t.group || t.cause), t.reason && h('bdi', `, “${t.reason}”`), t.drill && `, drill ${t.drill}`] },
      ], transitions.slice(0, 20), { none: 'It has never moved.', row: t => ({ key: t.seq }) }))),
  ];
}

// === the list ===


const next = s => (s.attempt ? `guard runs until ${wall(s.attempt.deadline, now())}` : s.next ? [h('bdi', s.next.what), s.next.at && [', ', time(s.next.at)]] : s.ready_to_return ? 'a person returns it' : modeOf(s, s.active ? 'deactivate' : 'activate').mode === 'off' ? 'a person moves it' : 'follows its condition');

function list(data, params) {
  const q = (params.q || '').toLowerCase();
  const items = data.items.filter(s => !q || s.name.toLowerCase().includes(q));
  const calm = s => s.state === 'inactive' && !s.stuck && !/forced|pinned|disabled/.test(s.shown) && !s.ready_to_return && !s.attempt;
  const moving = items.filter(s => !calm(s)), still = items.filter(calm);
  const columns = [
    { head: 'Scenario', wide: true, cell: s => [obj('scenario', s.name), s.about && [h('br'), h('small', h('bdi', s.about))]] },
    { head: 'State', wide: true, cell: s => [scenarioBadge(s), ' ', shown(s)] }, { head: 'Modes', cell: modes }, { head: 'Since', cell: s => since(s.since) },
    { head: 'What happens next', wide: true, cell: next },
    { head: 'Steers', wide: true, cell: s => (s.affected ? [...new Set(s.affected.map(a => a.rrset))].slice(0, 4).map((r, i) => [i ? ', ' : '', nm(r)]) : '–') },
  ];
  const row = s => ({ kind: 'scenario', name: s.name, class: s.stuck ? 'row-bad' : /forced|pinned/.test(s.shown) ? 'row-hand' : '' });
  if (!items.length) return h('p.empty', params.q ? [`No scenario matches “${params.q}”. `, h('button', { type: 'button', class: 'btn quiet', onclick: () => setParams({ q: '' }) }, 'Clear')] : 'No scenarios are defined. They decide which DNS records answer; see example.toml.');
  return [moving.length ? table('Scenarios not at rest', columns, moving, { row }) : h('p.empty', `${still.length === 1 ? 'The one scenario is' : `All ${num(still.length)} are`} at rest.`),
    still.length ? h('details', { open: !moving.length || Boolean(q) }, h('summary', `${num(still.length)} at rest`), table('Scenarios at rest', columns, still, { row })) : null,
    pager(data, params)];
}

export function view([name], params) {
  if (name) return shows('scenario', sc => one(sc, need('moves').items)) || null;
  return [h('div.title', h('h1', 'Scenarios')), filters(params, 'scenario'), card('list', 'Scenarios', null, shows('scenarios', d => list(d, params))),
    h('div.cols', card('switches', 'Switches', null, shows('switches', d => table('Switches', [
      { head: 'Switch', wide: true, cell: s => [nm(s.name), s.maintenance_of && [h('br'), h('small', 'maintenance of ', nm(s.maintenance_of))]] },
      { head: 'Value', cell: s => (s.value !== s.initial ? b('hand', 'hand', s.value ? 'on' : 'off') : s.value ? 'on' : 'off') },
      { head: 'By', wide: true, cell: s => (s.set_by ? [nm(who(s.set_by.actor)), `, ${wall(s.set_by.since, now())}`, s.set_by.reason && h('bdi', `, “${s.set_by.reason}”`), s.set_by.expires && `, until ${wall(s.set_by.expires, now())}`] : 'stands at its initial value') },
      { head: 'Acts', hide: true, wide: true, cell: s => act(s.value ? 'Turn off…' : 'Turn on…', o => ask(flip(s.name, !s.value), o)) },
    ], d.items, { none: 'No switches are defined.', row: s => ({ kind: 'switch', name: s.name }) }))))];
}
