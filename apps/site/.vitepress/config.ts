import { createHash } from 'node:crypto'
import { defineConfig } from 'vitepress'
import { documentsIn, guidePath, readDocument } from '../../../tooling/documents/document-list.ts'
import { firstSentence, titleOf } from '../../../tooling/documents/first-sentence.ts'
import { GUIDE_GROUPS } from '../../../tooling/documents/guide-groups.ts'
import { slugOf } from '../../../tooling/documents/markdown-text.ts'

const items = (paths: readonly string[]) =>
  paths.map((path) => ({
    text: titleOf(readDocument(path)),
    link: `/${path.replace(/^docs\//, '').replace(/\.md$/, '')}`,
  }))

const guides = Object.entries(GUIDE_GROUPS).map(([text, names]) => ({
  text,
  items: items(names.map(guidePath)),
}))

const project = [
  { text: 'Change log', link: '/changelog' },
  { text: 'Architecture', link: '/architecture' },
  { text: 'Contributing', link: '/contributing' },
  { text: 'Security', link: '/security' },
  { text: 'For coding agents', link: '/coding-agents' },
]

const readme = readDocument('README.md')

/** Allows only what the page has itself: its own files, and its inline scripts by their hashes. */
function contentSecurityPolicy(html: string): string {
  const scripts = [...html.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g)].map(([, text = '']) => text)
  const hashes = scripts.map((text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`)
  return [
    "default-src 'none'",
    `script-src 'self' ${hashes.join(' ')}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
}

export default defineConfig({
  srcDir: 'dist/pages',
  cacheDir: 'dist/cache',
  base: (process.env.SITE_BASE ?? '/') as `/${string}/`,
  lang: 'en',
  title: titleOf(readme),
  description: firstSentence(readme).replaceAll('`', ''),
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `${process.env.SITE_BASE ?? '/'}icon.svg` }]],
  metaChunk: true,
  router: { prefetchLinks: false },
  markdown: {
    image: { lazyLoading: true },
    anchor: { slugify: slugOf },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  transformHtml: (html) =>
    html.replace(
      '<head>',
      `<head>\n    <meta http-equiv="Content-Security-Policy" content="${contentSecurityPolicy(html)}">`,
    ),
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    externalLinkIcon: true,
    notFound: { linkLabel: 'Take me home' },
    footer: { message: 'MIT license. This site sets no cookies and loads nothing from other hosts.' },
    nav: [
      { text: 'Guides', link: '/guides/', activeMatch: '^/guides/(?!why|compare)' },
      { text: 'Reference', link: '/reference/', activeMatch: '^/reference/' },
      { text: 'Why', link: '/guides/why' },
      { text: 'Comparison', link: '/guides/compare' },
      { text: 'Project', items: [{ text: 'Decisions', link: '/adr/' }, ...project] },
    ],
    sidebar: {
      '/guides/': guides,
      '/reference/': [{ text: 'Reference', link: '/reference/', items: items(documentsIn('docs/reference')) }],
      '/adr/': [{ text: 'Decisions', link: '/adr/', items: items(documentsIn('docs/adr')) }],
      '/': [{ text: 'Project', items: [...project, { text: 'Decisions', link: '/adr/' }] }],
    },
  },
})
