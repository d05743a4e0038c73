// What is told where an address names no page.
import { h } from './dom.js';
import { at } from './fmt.js';
import { link } from './parts.js';

export const title = () => 'No such page';

export function view() {
  return [h('div.title', h('h1', 'There is no such page')),
    h('p.ink2', h('code', h('bdi', location.hash)), ' names none. ', link(at(''), 'The overview'), ' shows what needs attention, and ', link(at('more'), 'this'), ' is a list of all pages.')];
}
