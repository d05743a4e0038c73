// Charts: lines over time with marks of what happened; where there is no data there is no line.
import { h, s } from './dom.js';
import { num, wall } from './fmt.js';
import { get, net, now, query } from './net.js';

const W = 420, H = 120, X = 40, Y = 8, BOTTOM = 102;
const SPAN = 1800e3;

const nice = top => {
  const p = 10 ** Math.floor(Math.log10(top || 1));
  return [1, 2, 4, 6, 8, 10].map(m => m * p).find(m => m >= top) || 10 * p;
};

/** Marks whose words would lie on each other are told as one. */
function together(marks, x) {
  const out = [];
  for (const m of [...marks].sort((a, c) => a.at - c.at)) {
    const last = out[out.length - 1];
    if (last && x(m.at) - x(last.at) < 70) { last.count += 1; last.text = `${last.count} moves`; } else out.push({ ...m, count: 1 });
  }
  return out;
}

/** `lines`: [{name, points: [[ms, value]], cls}]; `marks`: [{at, text}]. */
export function chart(name, lines, { marks = [], from, to, unit = '', area = true } = {}) {
  const all = lines.flatMap(l => l.points).filter(p => p[0] >= from && p[1] != null);
  const top = nice(Math.max(1, ...all.map(p => p[1])) * 1.05);
  const x = t => X + ((t - from) / (to - from)) * (W - X);
  const y = v => BOTTOM - (v / top) * (BOTTOM - Y);
  const first = Math.min(to, ...all.map(p => p[0]));
  const gap = Math.max(...lines.map(l => l.step || 0), 15e3) * 2.5;
  const runs = l => {
    const out = [];
    let last = -Infinity;
    for (const p of l.points) {
      if (p[0] < from || p[1] == null) continue;
      if (p[0] - last > gap) out.push([]);
      out[out.length - 1].push(p);
      last = p[0];
    }
    return out;
  };
  const text = (tx, ty, value, anchor = 'end') => s('text', { x: tx, y: ty, 'text-anchor': anchor }, value);
  const newest = all.length ? lines.map(l => { const p = l.points[l.points.length - 1]; return p ? `${l.name} ${num(p[1])}${unit}` : ''; }).filter(Boolean).join(', ') : 'no data';
  const pos = p => `${x(p[0]).toFixed(1)},${y(p[1]).toFixed(1)}`;
  return s('svg.chart', { viewBox: `0 0 ${W} ${H}`, role: 'img', 'aria-label': `${name} over ${Math.round((to - from) / 60e3)} minutes; now ${newest}.` },
    [0, top / 2, top].map(v => [s('path.ax', { d: `M${X} ${y(v)}H${W}` }), text(X - 5, y(v) + 4, num(v))]),
    first > from + gap && s('rect.nodata', { x: X, y: Y, width: Math.max(0, x(first) - X), height: BOTTOM - Y }),
    lines.map((l, i) => runs(l).map(run => [
      area && i === 0 && run.length > 1 && s('polygon.a1', { points: `${x(run[0][0]).toFixed(1)},${BOTTOM} ${run.map(pos).join(' ')} ${x(run[run.length - 1][0]).toFixed(1)},${BOTTOM}` }),
      s('polyline', { class: l.cls || (i ? 'l2' : 'l1'), points: run.map(pos).join(' ') })])),
    together(marks.filter(m => m.at >= from && m.at <= to), x).map((m, i) => [s('path.mark', { d: `M${x(m.at)} ${Y}V${BOTTOM}` }), s('text.markt', { x: Math.min(W - 4, x(m.at) + 3), y: Y + 8 + (i % 2) * 13, 'text-anchor': x(m.at) > W * 0.7 ? 'end' : 'start' }, m.text)]),
    [from, (from + to) / 2, to].map((t, i) => text(i === 0 ? X : i === 1 ? (X + W) / 2 : W, H - 2, wall(t, t).slice(0, 5), ['start', 'middle', 'end'][i])));
}

/** What the charts of one object show: its history, then what comes live. */
export class Series {
  constructor(object) {
    this.object = object;
    this.points = {};
    this.marks = [];
    this.step = 10e3;
    this.load();
  }

  async load() {
    this.at = performance.now();
    const to = new Date(now()).toISOString();
    const from = new Date(now() - SPAN).toISOString();
    try {
      const told = await get(`/history${query({ object: this.object, from, to, step: '10s' })}`);
      const t = (told.t || []).map(v => (typeof v === 'number' ? v * (v < 1e11 ? 1000 : 1) : Date.parse(v)));
      // What came live is newer than the last whole point of the history, or goes.
      const whole = t.length ? t[t.length - 1] : 0;
      for (const [name, values] of Object.entries(told.series || {})) this.points[name] = t.map((at, i) => [at, /^p\d/.test(name) && !values[i] ? null : values[i]]).concat((this.points[name] || []).filter(p => p[0] > whole + this.step));
      this.marks = (told.marks || []).map(m => ({ at: Date.parse(m.at), text: m.kind === 'transition' ? `${m.object.replace(/^scenario /, '')} ${/deactiv/.test(m.text) ? 'inactive' : 'active'}` : m.text }));
      this.told = true;
    } catch { this.told = false; }
    net.paint();
  }

  add(name, value, at = now()) {
    const list = (this.points[name] ||= []);
    if (value == null || (list.length && at <= list[list.length - 1][0])) return;
    list.push([at, value]);
    if (list.length > 4000) list.splice(0, 1000);
  }

  /** The history goes on; asked for every ten seconds. */
  renew() {
    if (this.told && performance.now() - this.at > this.step) this.load();
  }

  /** The newest value of a series; null where none is. */
  last(name) {
    const point = (this.points[name] || []).findLast(p => p[1] != null);
    return point ? point[1] : null;
  }

  line(name, keys, cls) {
    const key = keys.find(k => this.points[k]);
    return { name, points: (key && this.points[key]) || [], cls, step: this.step };
  }

  /** When the first of what is shown is from, where it is not all. */
  since(key) {
    const list = this.points[key] || [];
    const first = list.find(p => p[1] != null);
    return first && first[0] > now() - SPAN + 60e3 ? `Filled from ${wall(first[0], now())} on` : null;
  }
}

export function plot(series, head, right, value, lines, extra = {}) {
  const to = now();
  const some = lines.some(l => l.points.length);
  return h('section.card', { key: head, 'aria-label': head }, h('header', h('h2', head), h('span.r', right)),
    h('div.pad', h('p.big', value),
      some ? chart(head, lines, { from: to - SPAN, to, marks: series.marks, ...extra }) : h('p.empty', 'No history yet.'),
      extra.note && h('p.small', extra.note)));
}
