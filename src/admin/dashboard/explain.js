// Why a name is answered as it is, for any client and moment.
import { h } from './dom.js';
import { at, wall } from './fmt.js';
import { get, now, query } from './net.js';
import { field, link, nm, note } from './parts.js';
import { repaint } from './app.js';

export const asked = { name: '', type: 'A', client: '', at: '', answer: null, error: null };

export async function explain() {
  try {
    asked.answer = await get(`/explain/dns${query({ name: asked.name, type: asked.type || 'A', client: asked.client, at: asked.at })}`);
    asked.error = null;
  } catch (error) { asked.answer = null; asked.error = error.message; }
  repaint();
}

const told = x => (Array.isArray(x) ? x.join(', ') : x == null ? '' : typeof x === 'object' ? JSON.stringify(x) : String(x));

function why(a) {
  return [h('p.gap', { role: 'status' }, h('b', `${a.rcode}. `), a.answer.length ? a.answer.map(l => h('code.line', nm(l))) : 'No answer.', a.past && h('span.dim', ` At ${wall(a.past.at, now(), 3)}, by entry ${a.past.entry} of the journal.`)),
    h('ol.why', a.steps.map(st => h('li', h('span', h('b', st.name), ': ', h('bdi', st.because || ''), st.scenario && [' (', link(at('scenarios', st.scenario), nm(st.scenario)), ')'],
      (st.in || st.out) && h('small.inout', st.in != null && told(st.in) !== '' && ['in ', h('code', nm(told(st.in))), ' '], st.out != null && ['out ', h('code', nm(told(st.out) || 'nothing'))])))))];
}

export function explainForm(where) {
  const input = (id, label, props) => field(`${where}-${id}`, label, null, h('input', { id: `${where}-${id}`, value: asked[id], autocomplete: 'off', spellcheck: 'false', oninput: e => { asked[id] = e.target.value; }, ...props }));
  return [h('form.explain', { onsubmit: e => { e.preventDefault(); explain(); } }, input('name', 'Name', { placeholder: 'www.example.test', required: true }), input('type', 'Type'), input('client', 'Client', { placeholder: '127.0.0.1' }),
    where === 'dns' ? input('at', 'At', { placeholder: 'now; 10m; a time' }) : null, h('button.btn', { type: 'submit' }, 'Explain')),
  asked.error && note('bad', 'bad', h('bdi', asked.error)), asked.answer && why(asked.answer)];
}
