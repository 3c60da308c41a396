import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BrowserContext, chromium, type Page } from 'playwright-core'
import { rolldown } from 'rolldown'
import { toolPath } from '../tooling/machine-tools.ts'

/** A page on its own origin in a real browser, with the client bundled as an application would bundle it. */
export interface BrowserPage {
  readonly origin: string
  readonly context: BrowserContext
  /** Opens a new page that has the fixture's `window.perdure`. */
  load(): Promise<Page>
  close(): Promise<void>
}

const HTML = '<!doctype html><meta charset="utf-8"><title>perdure</title><script type="module" src="/page.js"></script>'
export const CHROMIUM_FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
]

interface PageSource {
  readonly entry: string
  /** Resolves `exports` as a bundler does. */
  readonly conditionNames: string[]
}

const FIXTURE: PageSource = {
  entry: join(import.meta.dirname, 'fixtures/browser-page.mjs'),
  conditionNames: ['perdure-source', 'import', 'default'],
}

async function bundlePage({ entry, conditionNames }: PageSource): Promise<string> {
  const bundle = await rolldown({
    input: entry,
    platform: 'browser',
    resolve: { conditionNames },
    logLevel: 'silent',
  })
  const { output } = await bundle.generate({ format: 'esm', minify: true })
  await bundle.close()
  return output[0].code
}

/** Starts a browser with a temporary profile, deleted on close. */
export async function launchChromium(): Promise<BrowserContext> {
  const profile = mkdtempSync(join(tmpdir(), 'perdure-chromium-'))
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: toolPath('chromium'),
    headless: true,
    args: CHROMIUM_FLAGS,
  })
  context.once('close', () => rmSync(profile, { recursive: true, force: true, maxRetries: 20 }))
  return context
}

export async function openBrowserPage(source = FIXTURE): Promise<BrowserPage> {
  const script = await bundlePage(source)
  const server = createServer((request, response) => {
    const isScript = request.url === '/page.js'
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
    response.end(isScript ? script : HTML)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const context = await launchChromium()
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  return {
    origin,
    context,
    async load() {
      const page = await context.newPage()
      await page.goto(origin)
      await page.waitForFunction('window.perdure !== undefined')
      return page
    },
    async close() {
      await context.close()
      server.closeAllConnections()
      server.close()
    },
  }
}
