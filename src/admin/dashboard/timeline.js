// What happened, moment by moment: the moves of scenarios that belong together, their phases, the picture, a replay.
import { h, s } from './dom.js';
import { at, enc, many, ms, num, span, wall, who } from './fmt.js';
import { call, get, need, now, query } from './net.js';
import { bar, card, crumb, link, nm, note, obj, shows, table, time } from './parts.js';
import { record } from './dialog.js';
import { repaint, setParams } from './app.js';

const TOGETHER = 60e3;
const AROUND = 60e3;

export const title = args => (args.length ? `Timeline of ${args[0] === 'at' ? wall(args[1], now()) : args.join(' ')}` : 'Timeline');
export const needs = (args, p) => (args.length ? {} : { moves: { path: `/journal${query({ kind: 'transition', since: p.since || '30d', newest_first: 'true', limit: 500 })}`, refetch: ['scenario'] } });

const it = { key: '', doc: null, moves: [], error: null, at: 0, playing: null, speed: 5, answers: [], asked: '' };

export async function opened(args) {
  const key = args.join('/');
  if (!args.length || (it.key === key && it.doc)) return;
  stop();
  Object.assign(it, { key, doc: null, moves: [], error: null, at: 0, answers: [], asked: '' });
  try {
    let from, to;
    if (args[0] === 'at') [from, to] = [ms(args[1]) - AROUND, ms(args[1]) + AROUND];
    else {
      const { items } = await get(`/scenarios/${enc(args[0])}/transitions?limit=1000`);
      const main = items.find(t => String(t.seq) === args[1]);
      if (!main) throw new Error(`${args[0]} has no transition ${args[1]} in the journal.`);
      it.moves = [main];
      from = ms(main.detected_at || main.evaluated_at);
      to = Math.max(ms(main.committed_at), ms(main.caches_over_at) || 0);
    }
    const iso = t => new Date(Math.min(t, now() + 1000)).toISOString();
    it.span = [from - (args[0] === 'at' ? 0 : AROUND), Math.min(to + (args[0] === 'at' ? 0 : AROUND), now())];
    it.path = `/timeline${query({ since: iso(it.span[0]), until: iso(it.span[1]) })}`;
    const incident = it.moves[0] && it.moves[0].incident;
    if (incident) {
      it.path = `/timeline/${enc(incident)}`;
      it.doc = await get(it.path);
      it.span = [ms(it.doc.since), ms(it.doc.until)];
    } else it.doc = await get(it.path);
    const mark = it.moves[0] ? ms(it.moves[0].committed_at) : ms(args[1]);
    it.at = Math.max(0, it.doc.events.findLastIndex(e => ms(e.at) <= mark));
    look();
  } catch (error) { it.error = error.message; }
  repaint();
}

// === replay ===

function stop() { clearInterval(it.playing); it.playing = null; }

function seek(index) {
  it.at = Math.max(0, Math.min(it.doc.events.length - 1, index));
  look();
  repaint();
}

function play() {
  if (it.playing) { stop(); repaint(); return; }
  if (it.at >= it.doc.events.length - 1) it.at = 0;
  let t = ms(it.doc.events[it.at].at), last = performance.now();
  it.playing = setInterval(() => {
    t += (performance.now() - last) * it.speed;
    last = performance.now();
    while (it.at < it.doc.events.length - 1 && ms(it.doc.events[it.at + 1].at) <= t) it.at += 1;
    if (it.at >= it.doc.events.length - 1) stop();
    look();
    repaint();
  }, 200);
  repaint();
}

let wait = null;
/** What DNS answered at the moment that is looked at. */
function look() {
  clearTimeout(wait);
  wait = setTimeout(async () => {
    const e = it.doc && it.doc.events[it.at];
    const names = affected();
    if (!e || !names.length || it.asked === e.at) return;
    it.asked = e.at;
    const all = await Promise.all(names.slice(0, 4).map(n => get(`/explain/dns${query({ name: n.name, type: n.type, at: e.at })}`).then(a => ({ ...n, answer: a.answer }), error => ({ ...n, error: error.message }))));
    if (it.asked === e.at) { it.answers = all; repaint(); }
  }, 250);
}

function affected() {
  const m = it.moves[0];
  const sc = m && (need('status').data ? it.affected : null);
  if (sc) return sc;
  if (m && !it.affecting) {
    it.affecting = true;
    get(`/scenarios/${enc(m.scenario)}`).then(x => { it.affected = (x.affected || []).map(a => { const [owner, type] = a.rrset.split(' '); return { name: owner === '@' ? a.zone : `${owner}.${a.zone}`, type }; }); it.affecting = false; look(); }, () => { it.affected = []; });
  }
  return [];
}

// === the picture ===

const LANES = [['Probes', /^(board|state|ended)$/], ['Guards', /^attempt$/], ['Transitions', /^transition$/], ['People', /^(act|drill|config)$/], ['Triggers', /^(delivery|alert|warning)$/]];

function picture() {
  const { events } = it.doc;
  const [from, to] = it.span;
  const X = t => 130 + ((t - from) / (to - from)) * 850;
  const used = LANES.filter(([, kinds]) => events.some(e => kinds.test(e.kind)));
  const height = 40 + used.length * 30 + (it.moves.length ? 46 : 0);
  const cursor = events.length ? X(ms(events[it.at].at)) : 0;
  const step = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600].find(n => (to - from) / 1000 / n <= 8) * 1000 || 7200e3;
  const ticks = [];
  for (let t = Math.ceil(from / step) * step; t < to; t += step) ticks.push(t);
  const m = it.moves[0];
  const y = 40 + used.length * 30;
  const told = m && X(ms(m.published_at || m.committed_at)), over = m && m.caches_over_at ? X(Math.min(to, ms(m.caches_over_at))) : told;
  return h('div.tl', { tabindex: '0', 'aria-label': 'Picture of what happened; the list below says the same' }, s('svg', { viewBox: `0 0 1000 ${height}`, role: 'img', 'aria-label': `${events.length} events from ${wall(from, from)} to ${wall(to, to)}` },
    ticks.map(t => [s('path.grid', { d: `M${X(t)} 20V${height}` }), s('text', { x: X(t), y: 12, 'text-anchor': 'middle' }, wall(t, t))]),
    used.map(([name, kinds], i) => [s('text.lanelab', { x: 0, y: 44 + i * 30 }, name), events.map((e, n) => kinds.test(e.kind) && mark(e, X(ms(e.at)), 40 + i * 30, n > it.at))]),
    m && [s('text.lanelab', { x: 0, y: y + 18 }, 'DNS answers'), s('rect.prim', { x: 130, y, width: Math.max(0, told - 130), height: 26 }), s('path.dr', { d: `M${told} ${y}L${over} ${y}H980V${y + 26}H${over}Z` }), s('path.prim', { d: `M${told} ${y}L${over} ${y + 26}H${told}Z` })],
    s('path.cursor', { d: `M${cursor} 18V${height}` }), s('path.cursorh', { d: `M${cursor - 5} 16h10l-5 7z` })));
}

function mark(e, x, y, future) {
  const cls = future ? '.old' : '';
  if (e.kind === 'transition') return s('path.commit' + cls, { d: `M${x} ${y - 7}l7 7-7 7-7-7z` });
  if (/^(act|drill|config)$/.test(e.kind)) return s('path.person' + cls, { d: `M${x} ${y - 6}l6 6-6 6-6-6z` });
  if (e.kind === 'board' || e.kind === 'state') return s(`path.${/down|false|fail|DOWN/.test(e.text) ? 'fail' : 'pass'}` + cls, { d: `M${x} ${y - 7}v14` });
  return s(`circle.try.${/fail|dead|refus|not deliv/.test(e.text) ? 'bad' : 'ok'}` + cls, { cx: x, cy: y, r: 5 });
}

// === phases ===

function phases(m) {
  const t = key => ms(m[key]);
  const out = [];
  const add = (a, b, text, cls) => { if (m[a] && m[b]) out.push([Math.max(0, (t(b) - t(a)) / 1000), text, cls]); };
  add('detected_at', 'evaluated_at', 'detect');
  add('evaluated_at', 'committed_at', m.guard ? 'decide, guard, commit' : 'decide and commit');
  add('committed_at', 'published_at', 'publish');
  add('published_at', 'first_answer_at', 'first new answer');
  const start = m.detected_at ? 'detected_at' : 'evaluated_at', end = m.first_answer_at ? 'first_answer_at' : m.published_at ? 'published_at' : 'committed_at';
  add(start, end, end === 'first_answer_at' ? 'until the first new answer' : end === 'published_at' ? 'until it was published' : 'until it was committed', 'sum');
  if (m.caches_over_at) add(end, 'caches_over_at', `caches, by ${wall(m.caches_over_at, now())}`, 'ttl');
  const all = Math.max(0.001, ...out.map(p => p[0]));
  return h('ol.phases', out.map(([secs, text, cls]) => h('li', { class: cls, style: { '--f': String(0.2 + secs / all) } }, h('b', span(secs)), text)));
}

async function copy() {
  const text = await call('GET', `${it.path}${it.path.includes('?') ? '&' : '?'}format=md`, undefined, { raw: true, headers: { accept: 'text/markdown' } }).catch(e => e);
  if (text instanceof Error) { record({ text: text.message, failed: true }); return; }
  try { await navigator.clipboard.writeText(text); record({ text: 'Copied as Markdown.' }); } catch { record({ text: 'This browser does not let a page copy here. Take the file.', failed: true }); }
}

/** Who had asked before, and who has not since: while caches may hold the old answer it is read anew. */
function resolvers(m) {
  const r = m && m.resolvers;
  if (!r) return null;
  const open = r.asked_before - r.asked_again;
  const missing = r.missing || [];
  return card('still', 'Who may still go by the old answer', m.caches_over_at && now() > ms(m.caches_over_at) ? 'caches are over' : 'now', [
    h('p.big', num(open), ' ', h('small', `of ${many(r.asked_before, 'resolver')} that may have kept it ${open === 1 ? 'has' : 'have'} not asked again`)),
    r.asked_before ? bar(r.asked_again / r.asked_before, 'flow', 'Resolvers that have asked again') : null,
    r.partial && h('p.small', 'More had asked than are remembered: the figures are of those that are.'),
    h('ul.says', missing.slice(0, 10).map(x => h('li', h('code', nm(typeof x === 'string' ? x : x.client || x.address))))), open > 10 && h('p.small', `and ${num(open - Math.min(10, missing.length))} more`)], { pad: true });
}

/** Reads the move that is looked at again, as long as resolvers may follow it. */
async function renew() {
  const m = it.moves[0];
  const over = m && (ms(m.caches_over_at) || ms(m.committed_at));
  if (!m || document.hidden || !document.getElementById('pic') || now() > over + 70e3) return;
  const { items } = await get(`/scenarios/${enc(m.scenario)}/transitions${query({ since: m.committed_at, limit: 10 })}`).catch(() => ({ items: [] }));
  const fresh = items.find(t => t.seq === m.seq);
  if (fresh && it.moves[0] === m) { it.moves = [fresh]; repaint(); }
}
setInterval(renew, 5000);

function incident() {
  const { events } = it.doc;
  const m = it.moves[0];
  const e = events[it.at];
  const states = new Map();
  events.slice(0, it.at + 1).forEach(x => { if (x.kind === 'transition') states.set(x.object.replace(/^scenario /, ''), x.text.replace(/^scenario \S+ /, '')); });
  return [crumb(link(at('timeline'), 'Timeline'), m ? `${wall(m.committed_at, now())} ${m.scenario} ${m.seq}` : wall(it.span[0] + AROUND, now())),
    h('div.title', h('h1', m ? [nm(m.scenario), ` ${m.direction === 'activate' ? 'activated' : 'deactivated'} at `, time(m.committed_at)] : ['Around ', time(new Date(it.span[0] + AROUND).toISOString(), 3)]), m && h('span.ink2', `seq ${m.seq}`),
      h('div.btns', h('button.btn', { type: 'button', onclick: copy }, 'Copy as Markdown'), h('a.btn', { href: `/api/v1${it.path}`, download: 'timeline.json' }, 'Download JSON'))),
    m && h('p.ink2', 'Because of ', m.cause === 'forced' || (!m.group && m.actor !== 'auto') ? h('span.hand', `${who(m.actor)}, by force`) : h('b', h('bdi', m.group || m.cause)), m.reason && h('bdi', `, “${m.reason}”`), '. ', m.first_answer_at ? ['The first new answer was given at ', time(m.first_answer_at, 3), '. '] : m.resolvers && 'Nobody has asked since. ', m.caches_over_at && [`Resolvers that obey the TTL ${now() < ms(m.caches_over_at) ? 'follow' : 'followed'} by `, time(m.caches_over_at), '.']), m && phases(m),
    !events.length ? note('', 'info', 'The journal holds nothing of this time.') : [h('div.cols', card('pic', 'What happened, by layer', 'drag, or use the arrow keys: one event at a time', [
      h('div.play', h('button.btn', { type: 'button', onclick: play }, it.playing ? '❚❚ Pause' : '▶ Replay'), h('select', { 'aria-label': 'Speed', value: String(it.speed), onchange: x => { it.speed = Number(x.target.value); } }, [1, 5, 20].map(n => h('option', { value: n, selected: n === it.speed }, `${n}×`))),
        h('input', { type: 'range', min: 0, max: events.length - 1, step: 1, value: String(it.at), 'aria-label': 'Event', 'aria-valuetext': `${wall(e.at, now(), 3)}, ${e.object} ${e.text}`, oninput: x => { stop(); seek(Number(x.target.value)); } }), h('span.at.mono', wall(e.at, now(), 3))), picture()])),
    h('div.cols.c21', card('events', `Events, ${num(events.length)}`, it.doc.truncated && 'there are more: narrow the time', h('ol', events.map((x, i) => h('li.evl', { key: x.entry }, h('button', { type: 'button', class: `ev ${i === it.at ? 'sel' : i > it.at ? 'future' : ''}`, 'aria-pressed': i === it.at ? 'true' : 'false', onclick: () => { stop(); seek(i); } },
      h('time', { datetime: x.at }, wall(x.at, x.at, 3)), h('span.k', x.kind), h('span.p', h('bdi', x.text), x.actor && h('span.hand', ` ${who(x.actor)}`), x.details.slice(0, 6).map(d => h('small', h('bdi', d)))), h('span.d', x.offset)))))),
    h('div.stackd', card('then', `At ${wall(e.at, now(), 3)}`, null, h('dl.kv', it.answers.map(a => [h('dt', nm(`${a.name} ${a.type}`)), h('dd', a.error ? a.error : a.answer.length ? a.answer.map(l => h('code.line', nm(l.split(/\s+/).slice(4).join(' ') || l))) : 'no answer')]), [...states].map(([k, v]) => [h('dt', obj('scenario', k)), h('dd', h('bdi', v))])), { pad: true }), resolvers(m)))]];
}

// === the list ===

function list(items) {
  const groups = [];
  for (const e of items) {
    const last = groups[groups.length - 1];
    if (last && ms(last[last.length - 1].at) - ms(e.at) < TOGETHER) last.push(e);
    else groups.push([e]);
  }
  return table('Incidents, newest first', [
    { head: 'When', cell: g => time(g[g.length - 1].at) },
    { head: 'What moved', wide: true, cell: g => [...g].reverse().slice(0, 6).map((e, i) => [i ? ', ' : '', link(at('timeline', e.body.scenario, String(e.body.seq)), nm(e.body.scenario), ` ${e.body.direction === 'activate' ? 'activated' : 'deactivated'}`)]) },
    { head: 'Because', wide: true, cell: g => { const e = g[g.length - 1]; const c = e.body.cause; return /^(auto|system)$/.test(e.actor) ? h('bdi', (c && (c.group || c.condition)) || (typeof c === 'string' ? c : 'its condition')) : [h('span.hand', 'forced'), `, ${who(e.actor)}`, e.body.reason && h('bdi', `, “${e.body.reason}”`)]; } },
    { head: 'Moves', num: true, cell: g => num(g.length) },
  ], groups, { none: 'No scenario has moved in this time.', row: g => ({ key: g[0].number }) });
}

export function view(args, p) {
  if (!args.length) {
    return [h('div.title', h('h1', 'Timeline')), h('div.filters', h('label', { for: 'ts' }, 'Of the last'), h('select', { id: 'ts', value: p.since || '30d', onchange: e => setParams({ since: e.target.value }) }, ['24h', '7d', '30d', '365d'].map(v => h('option', { value: v, selected: v === (p.since || '30d') }, v.replace('h', ' hours').replace(/(\d)d/, '$1 days'))))),
      card('list', 'Incidents', 'moves within a minute belong together', shows('moves', d => list(d.items)))];
  }
  if (it.key !== args.join('/')) setTimeout(() => opened(args));
  if (it.error) return [crumb(link(at('timeline'), 'Timeline')), h('h1', 'Timeline'), note('bad', 'bad', h('bdi', it.error))];
  return it.doc ? incident() : h('p.empty', 'Reading the journal…');
}
