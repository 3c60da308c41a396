import { join } from 'node:path'
import axe from 'axe-core'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { createClient } from '../packages/client/src/index.ts'
import { toolPath } from '../tooling/machine-tools.ts'
import { CHROMIUM_FLAGS } from './browser-page.ts'
import { createSandbox, createToken, type RunningServer, type Sandbox, startServer } from './perdure-process.ts'

export const CONSOLE_CONFIG = join(import.meta.dirname, 'fixtures/console.config.mjs')

/** A folder for screenshots, for manual review. */
const PICTURES = process.env.CONSOLE_PICTURES
export const TAKES_PICTURES = PICTURES !== undefined

/** A server with the console, its administrator, and a browser that resolves no other host. */
export interface ConsoleWorld {
  readonly sandbox: Sandbox
  readonly browser: Browser
  readonly token: string
  readonly rest: ReturnType<typeof createClient>
  server(): RunningServer
  /** The URL of the console. */
  url(): string
  /** Starts the server again after a stop, on the same port. */
  restart(): Promise<void>
  closePages(): Promise<void>
  close(): Promise<void>
}

/** @param shared a browser that stays open */
export async function openConsoleWorld(
  env: NodeJS.ProcessEnv = {},
  config = CONSOLE_CONFIG,
  shared?: Browser,
): Promise<ConsoleWorld> {
  const sandbox = createSandbox(env)
  const token = await createToken(sandbox, 'admin:*', 'ops')
  let server = await startServer(sandbox, ['server', '--config', config])
  const { url, port } = { url: server.url, port: new URL(server.url).port }
  const browser = shared ?? (await launch())
  return {
    sandbox,
    browser,
    token,
    rest: createClient({ baseUrl: url, token }),
    server: () => server,
    url: () => `${url.slice(0, url.lastIndexOf('/'))}/console/`,
    async restart() {
      server = await startServer(sandbox, ['server', '--config', config, '--port', port])
    },
    async closePages() {
      for (const context of browser.contexts()) await context.close()
    },
    async close() {
      if (shared === undefined) await browser.close()
      await server.kill('SIGTERM')
    },
  }
}

const launch = () =>
  chromium.launch({
    executablePath: toolPath('chromium'),
    headless: true,
    args: [...CHROMIUM_FLAGS, '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'],
  })

/** A page of the console, and everything that its browser has requested and complained about. */
export interface ConsolePage {
  readonly page: Page
  readonly context: BrowserContext
  readonly requests: readonly string[]
  /** Console errors, exceptions and violations of the Content-Security-Policy. */
  readonly complaints: readonly string[]
  /** Opens a page of the console by its fragment and waits for its heading. */
  open(fragment: string): Promise<void>
  picture(name: string): Promise<void>
}

type ContextOptions = Parameters<Browser['newContext']>[0]

export async function newConsolePage(world: ConsoleWorld, options: ContextOptions = {}): Promise<ConsolePage> {
  const context = await world.browser.newContext({ reducedMotion: 'reduce', ...options })
  const page = await context.newPage()
  const requests: string[] = []
  const complaints: string[] = []
  page.on('request', (request) => request.url().startsWith('data:') || requests.push(request.url()))
  page.on('websocket', (socket) => requests.push(socket.url()))
  page.on('console', (message) => /error|warning/.test(message.type()) && complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))
  await page.addInitScript(
    `addEventListener('securitypolicyviolation', (event) => console.error('CSP ' + event.violatedDirective + ' ' + event.blockedURI))`,
  )
  return {
    page,
    context,
    requests,
    complaints,
    async open(fragment) {
      await page.goto(world.url() + fragment)
      await page.locator('main h1').first().waitFor()
    },
    async picture(name) {
      if (PICTURES !== undefined) await page.screenshot({ path: `${PICTURES}/${name}.png` })
    },
  }
}

/** Opens the console with a single-use code of this token. */
export async function signedIn(
  world: ConsoleWorld,
  token = world.token,
  options?: ContextOptions,
): Promise<ConsolePage> {
  const opened = await newConsolePage(world, options)
  const { code } = await createClient({ baseUrl: world.server().url, token }).console.createCode()
  await opened.page.goto(`${world.url()}#code=${code}`)
  await opened.page.locator('.shell').waitFor()
  return opened
}

const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
/** The rules whose result depends on colours and widths. */
const LOOKS = ['color-contrast', 'link-in-text-block', 'scrollable-region-focusable', 'target-size']

/** The rules of WCAG 2.2 AA that the page breaks, with the elements. */
export async function accessibilityProblems(page: Page, which: 'all' | 'looks'): Promise<readonly string[]> {
  await page.evaluate(axe.source)
  return page.evaluate<string[]>(`axe
    .run(document, { runOnly: ${JSON.stringify(which === 'all' ? WCAG : { type: 'rule', values: LOOKS })} })
    .then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 160))))`)
}
