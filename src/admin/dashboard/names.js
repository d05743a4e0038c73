// Where steered names go, and why.
import { h, icon } from './dom.js';
import { at, num } from './fmt.js';
import { link, nm, since, site, table } from './parts.js';

/** Where a steered name goes: its sites, or its records where no site is told. */
export function goesTo(rrset) {
  const groups = new Map();
  for (const a of rrset.answers || []) {
    const key = a.datacenter || '';
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(a.data);
  }
  if (!groups.size) return h('span.goes.bad', icon('bad'), ' nobody');
  return [...groups].map(([name, data]) => h('span.goes', name && site(name, true), name && ' ',
    h('code', data.slice(0, 3).map((d, i) => [i ? ' ' : '', nm(d)])), data.length > 3 && ` and ${data.length - 3} more`));
}

export function becauseOf(rrset) {
  const out = [];
  if (rrset.fallback || rrset.fail_open) out.push(h('span.bad', `Fail-open (${rrset.fallback || 'serve_all'}): no record is left. `));
  if (rrset.because) return [...out, h('bdi', rrset.because)];
  const of = wanted => (rrset.records || []).find(r => r.scenario && wanted(r));
  const cause = of(r => !r.served && r.step === 'filter') || of(r => r.served);
  const name = cause && link(at('scenarios', cause.scenario), nm(cause.scenario));
  if (cause && cause.served && rrset.set === `the DR set of ${cause.scenario}`) return [...out, name, ' active: its DR set'];
  const standby = !cause && of(r => !r.served && r.step === 'base_set');
  if (standby) return [...out, link(at('scenarios', standby.scenario), nm(standby.scenario)), ' inactive: ', h('bdi', rrset.set)];
  out.push(h('bdi', rrset.set));
  if (name) out.push('; ', name, cause.served ? '' : [' leaves out ', h('code', nm(cause.data))]);
  return out;
}

/** Where they go, in a line or three: what is read first. Those that go the same way for the same reason stand together. */
export function goings(zones) {
  const ways = new Map();
  for (const r of zones.flatMap(z => z.rrsets)) {
    const sites = [...new Set(r.answers.map(a => a.datacenter || a.data))].sort();
    const key = JSON.stringify([sites.slice(0, 3), r.set, r.fallback, becauseOf(r).map(x => (x instanceof Node ? x.textContent : x)).join('')]);
    if (!ways.has(key)) ways.set(key, []);
    ways.get(key).push(r);
  }
  const wrong = list => Number(Boolean(!list[0].answers.length || list[0].fallback || list[0].fail_open));
  const all = [...ways.values()].sort((a, c) => wrong(c) - wrong(a) || c.length - a.length);
  const plain = r => (r.owner || r.name.split(' ')[0]).replace(/\.$/, '');
  const one = list => {
    const names = [...new Set(list.map(plain))];
    const sites = [...new Set(list[0].answers.map(a => a.datacenter).filter(Boolean))];
    return h('li', h('span', names.slice(0, 2).map((n, i) => [i ? (names.length > 2 ? ', ' : ' and ') : '', h('b', nm(n))]), names.length > 2 && ` and ${num(names.length - 2)} more`, ` ${names.length > 1 ? 'go' : 'goes'} to `),
      sites.length ? sites.map(s => site(s, true)) : goesTo(list[0]), h('span.dim', '– ', becauseOf(list[0])));
  };
  return all.length ? h('ul.go', all.slice(0, 3).map(one), all.length > 3 && h('li', `and ${num(all.length - 3)} other ways, below`)) : null;
}

const served = r => {
  if (r.queries_per_min != null) return `${num(r.queries_per_min)}/min`;
  const all = (r.served || []).reduce((sum, s) => sum + s.total, 0);
  return `${num(all)} answers`;
};

export function names(zones, most) {
  const rows = zones.flatMap(z => z.rrsets.map(r => ({ ...r, zone: z.name })));
  const bad = r => !r.answers.length || r.fallback || r.fail_open;
  rows.sort((a, c) => Number(Boolean(bad(c))) - Number(Boolean(bad(a))));
  return [table('Steered names and where they go', [
    { head: 'Name', wide: true, cell: r => [h('a.obj', { href: at('dns', r.zone) }, nm((r.owner || r.name).replace(/\.$/, ''))), '\u00a0', r.type] },
    { head: 'Goes to', wide: true, cell: goesTo },
    { head: 'Why', wide: true, cell: becauseOf },
    { head: 'Since', cell: r => (r.since ? since(r.since) : h('span.nw', 'the start')) },
    { head: 'Queries', num: true, cell: served },
  ], rows.slice(0, most), {
    none: ['No names are steered. Records of an ', h('code', 'rrset'), ' with cond or drCond are; see example.toml.'],
    row: r => ({ key: `${r.zone}/${r.name}`, class: bad(r) ? 'row-bad' : '' }),
  }), rows.length > most ? h('p.pad', link(at('dns'), `All ${rows.length} names`)) : null];
}
