import { execFile } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toolPath } from '../tooling/machine-tools.ts'
import { needsTool } from '../tooling/needed-tool.ts'
import { CHROMIUM_FLAGS } from './browser-page.ts'
import { accessibilityProblems } from './console-browser.ts'

const ROOT = join(import.meta.dirname, '..')
/** Bytes of HTML, scripts and styles that a page loads first, compressed as servers of static files do. */
const MOST_FIRST_BYTES = 200_000
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.webp': 'image/webp',
}
/** A page of each kind. */
const PAGES = [
  ...['', 'guides/', 'guides/approvals.html', 'guides/compare.html', 'reference/errors.html', 'changelog.html'],
  '404.html',
]

let folder: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'perdure-site-'))
  await promisify(execFile)(process.execPath, [join(ROOT, 'apps/site/src/build.ts'), folder])
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const htmlOf = (path: string): string => readFileSync(join(folder, path), 'utf8')

/** The addresses that a browser loads when it shows a page or applies a style, without those of links. */
function loadedAddresses(text: string): readonly string[] {
  const elements = text.match(/<(?!a\b|meta\b)[a-z-]+\b[^>]*>/g) ?? []
  return [
    ...elements.flatMap((element) => [...element.matchAll(/\s(?:src|href|srcset|poster|data)="([^"]*)"/g)]),
    ...text.matchAll(/url\(\s*["']?([^"')]+)/g),
    ...text.matchAll(/@import\s+["']([^"']+)/g),
  ].map(([, address = '']) => address)
}

const isForeign = (address: string): boolean => /^(?:[a-z]+:)?\/\//i.test(address)

/** The compressed size of a page with the scripts and styles that it names. */
function firstBytes(path: string): number {
  const html = htmlOf(path)
  const files = new Set(loadedAddresses(html).filter((address) => /\.(?:js|css)$/.test(address)))
  const texts = [html, ...[...files].map((address) => htmlOf(address.slice(1)))]
  return texts.reduce((sum, text) => sum + gzipSync(text).length, 0)
}

describe('the files of the site', () => {
  it('name no other host from which a browser would load something', () => {
    const files = globSync('**/*.{html,css}', { cwd: folder })

    expect(files.length).toBeGreaterThan(100)
    expect(files.flatMap((path) => loadedAddresses(htmlOf(path)).filter(isForeign))).toEqual([])
    for (const planted of [
      '<script async src="https://example.com/a.js"></script>',
      '<link rel="stylesheet" href="//example.com/a.css">',
      'p { background: url(https://example.com/a.png) }',
    ])
      expect(loadedAddresses(planted).filter(isForeign)).toHaveLength(1)
  })

  it('allow a browser to load only from the site itself', () => {
    for (const path of globSync('**/*.html', { cwd: folder })) {
      const [policy = ''] = htmlOf(path).match(/(?<=Content-Security-Policy" content=")[^"]*/) ?? []
      expect(policy, path).toMatch(/^default-src 'none'; script-src 'self' 'sha256-/)
      expect(policy, path).not.toMatch(/https?:|script-src[^;]*unsafe/)
    }
  })

  it.each(['index.html', 'guides/approvals.html'])('are small when they are loaded first: %s', (path) => {
    const bytes = firstBytes(path)
    console.log(`${path}: ${bytes} bytes of HTML, scripts and styles`)

    expect(bytes).toBeGreaterThan(50_000)
    expect(bytes).toBeLessThan(MOST_FIRST_BYTES)
  })

  it('contain the documents as Markdown, and their list for language models', () => {
    expect(htmlOf('guides/approvals.md')).toMatch(/^# Approvals\n/)
    expect(htmlOf('llms.txt')).toContain('](guides/approvals.md): ')
    const full = htmlOf('llms-full.txt')
    expect(full).toContain('\n# Approvals\n')
    expect(full).toContain('\n# Command line\n')
  })
})

needsTool('chromium').describe('a page of the site in Chromium', () => {
  let server: Server
  let browser: Browser
  let page: Page
  let requests: string[]
  let complaints: string[]
  const url = (path: string): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/${path}`

  beforeAll(async () => {
    server = createServer((request, response) => {
      const path = decodeURIComponent(new URL(request.url ?? '', 'http://site').pathname).replace(/\/$/, '/index.html')
      const isThere = existsSync(join(folder, path))
      response.writeHead(isThere ? 200 : 404, { 'content-type': TYPES[extname(path)] ?? 'text/plain' })
      response.end(readFileSync(join(folder, isThere ? path : '404.html')))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const args = [...CHROMIUM_FLAGS, '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1']
    browser = await chromium.launch({ executablePath: toolPath('chromium'), headless: true, args })
    page = await browser.newPage({ reducedMotion: 'reduce' })
    requests = []
    complaints = []
    page.on('request', (request) => request.url().startsWith('data:') || requests.push(request.url()))
    page.on('console', (message) => /error|warning/.test(message.type()) && complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(error.message))
  })
  afterAll(async () => {
    await browser?.close()
    server?.closeAllConnections()
    server?.close()
  })

  /** Opens a page and waits until its script has taken it over. */
  async function open(path: string): Promise<void> {
    await page.goto(url(path))
    await page.waitForFunction('document.querySelector("#app").__vue_app__ !== undefined')
    await page.locator('h1').first().waitFor()
  }

  it.each(PAGES)('is accessible in light and dark colours: /%s', async (path) => {
    for (const [colorScheme, rules] of [
      ['light', 'all'],
      ['dark', 'looks'],
    ] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      await open(path)
      expect(await accessibilityProblems(page, rules), colorScheme).toEqual([])
    }
  })

  it.each(PAGES)('fits into 380 pixels: /%s', async (path) => {
    await page.setViewportSize({ width: 380, height: 800 })
    await open(path)

    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(380)
    await page.setViewportSize({ width: 1280, height: 800 })
  })

  it.each([
    ['light', /console-run\.webp$/],
    ['dark', /console-run-dark\.webp$/],
  ] as const)('shows its picture in the colours of the page, and links the file: %s', async (colorScheme, file) => {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await open('')
    const shown = page.locator('.vp-doc a:visible > img')

    expect(await shown.count()).toBe(1)
    expect(await shown.getAttribute('src')).toMatch(file)
    await expect
      .poll(() => shown.evaluate((image: { readonly naturalWidth?: number }) => image.naturalWidth))
      .toBe(1200)
    const link = await shown.locator('..').getAttribute('href')
    expect((await page.request.get(new URL(link ?? '', url('')).href)).status()).toBe(200)
  })

  it('finds a section without another host', async () => {
    await open('')
    await page.getByRole('button', { name: 'Search' }).first().click()
    await page.getByRole('searchbox').fill('time limit of an approval')
    await page
      .getByRole('option', { name: /approval/i })
      .first()
      .click()

    await page.waitForURL(/\/(?:guides|reference)\/[\w-]+\.html/)
  })

  it('plays the recorded terminal and pauses it', async () => {
    await open('')
    const last = page.locator('.recorded-line').last()
    expect(await last.isVisible()).toBe(true)

    await page.getByRole('button', { name: 'Play the recording' }).click()
    await expect.poll(() => last.isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('button', { name: 'Play the recording' }).waitFor()
  })

  it('has requested only files of the site, and has violated no policy', () => {
    expect(requests.length).toBeGreaterThan(20)
    expect(requests.filter((request) => !request.startsWith(url('')))).toEqual([])
    expect(complaints).toEqual([])
  })
})
