import { withBase } from 'vitepress'
import { defineComponent, h } from 'vue'

/** What the site shows for an address that it does not have. */
export const MissingPage = defineComponent({
  name: 'MissingPage',
  setup: () => () =>
    h('main', { class: 'missing' }, [
      h('h1', 'Page not found'),
      h('p', 'The address may be mistyped, or the page has moved. Use the search at the top of the page to find it.'),
      h('p', [
        h('a', { href: withBase('/') }, 'Go to the start'),
        ' or ',
        h('a', { href: withBase('/guides/') }, 'read the guides'),
        '.',
      ]),
    ]),
})
