import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { toolPath } from '../tooling/machine-tools.ts'
import { needsTool } from '../tooling/needed-tool.ts'
import { CHROMIUM_FLAGS } from './browser-page.ts'
import { CLIENT_CONFIG, createSandbox, createToken, type RunningServer, startServer } from './perdure-process.ts'

/** A folder for screenshots of the page, for manual review. */
const PICTURES = process.env.DOCS_PAGE_PICTURES

let browser: Browser
let server: RunningServer
let token: string
let page: Page
let requests: string[]
let complaints: string[]

async function newPage(options: { readonly javaScriptEnabled?: boolean } = {}): Promise<Page> {
  const context = await browser.newContext(options)
  const made = await context.newPage()
  made.on('request', (request) => request.url().startsWith('data:') || requests.push(request.url()))
  made.on('console', (message) => /error|warning/.test(message.type()) && complaints.push(message.text()))
  made.on('pageerror', (error) => complaints.push(error.message))
  return made
}

async function load(at = page) {
  requests = []
  complaints = []
  await at.goto('about:blank')
  await at.goto(`${server.url}/docs`)
}

const picture = async (name: string, of = page) => {
  if (PICTURES !== undefined) await of.screenshot({ path: `${PICTURES}/${name}.png` })
}

/** Opens the form of an operation. */
async function openOperation(id: string) {
  await page.locator(`a[href="#${id}"]`).click()
  const operation = page.getByRole('article', { name: id, exact: true })
  await operation.locator('form').waitFor()
  return operation
}

const search = () => page.getByLabel('Search operations')

needsTool('chromium').describe('the page /docs in Chromium', () => {
  beforeAll(async () => {
    const sandbox = createSandbox({ PERDURE_SERVER_RATE_LIMIT_PER_IP_REQUESTS: '10000' })
    token = await createToken(sandbox)
    server = await startServer(sandbox, ['server', '--config', CLIENT_CONFIG])
    browser = await chromium.launch({ executablePath: toolPath('chromium'), headless: true, args: CHROMIUM_FLAGS })
    page = await newPage()
  })

  afterAll(async () => {
    await browser?.close()
    await server?.kill('SIGTERM')
  })

  it('requests nothing from other hosts and complies with its content security policy', async () => {
    await load()
    await openOperation('agents.list')
    await openOperation('tokens.create')

    expect(requests).toEqual([`${server.url}/docs`, `${server.url}/openapi.json`])
    expect(complaints).toEqual([])
  })

  it('finds operations that match every search word', async () => {
    await load()
    await page.locator('a[href="#agents.list"]').waitFor()
    const shown = () =>
      page
        .locator('nav a:not([href^="#error-"])')
        .evaluateAll((found) => found.map((one) => one.getAttribute('href')?.slice(1)))
    const all = (await shown()).length

    await page.keyboard.press('/')
    await page.keyboard.type('agent-busy passphrase')
    expect(await shown()).toEqual([])
    await search().fill('approval resolve')
    expect(await shown()).toContain('approvals.resolve')
    expect(await page.locator('nav output').textContent()).toMatch(new RegExp(`^\\d+ of ${all} operations$`))
    expect(await page.getByRole('region', { name: 'health' }).isVisible()).toBe(false)
    await page.keyboard.press('Escape')
    expect(await shown()).toHaveLength(all)
    await search().fill('agent-busy')
    await page.locator('a[href="#error-agent-busy"]').click()
    await page.getByRole('article', { name: 'agent-busy' }).getByText('409').waitFor()
  })

  it('calls an operation with the token entered on the page and shows the answer', async () => {
    await load()
    const operation = await openOperation('agents.run')
    await operation.getByLabel('agentId').fill('echo')

    await operation.getByRole('button', { name: 'Send' }).click()
    await operation.getByText(/^401 in/).waitFor()
    await page.locator('#token').fill(token)
    await operation.getByRole('button', { name: 'Send' }).click()
    await operation.getByText(/^200 in/).waitFor()

    expect(JSON.parse((await operation.locator('.json pre').textContent()) ?? '')).toMatchObject({
      status: 'completed',
    })
    expect(await page.locator('#docs').textContent()).not.toContain(token)
    await picture('try-it')
  })

  it('shows a stream as it arrives', async () => {
    await load()
    const operation = await openOperation('agents.stream')
    await page.locator('#token').fill(token)
    await operation.getByLabel('agentId').fill('echo')
    await operation.getByLabel('Accept').selectOption('text/event-stream')
    await operation.getByRole('button', { name: 'Send' }).click()

    await operation.getByText('event: run.completed').waitFor()
  })

  it('names a missing field and sends nothing', async () => {
    await load()
    const operation = await openOperation('runs.get')
    await operation.getByRole('button', { name: 'Send' }).click()

    expect(await operation.getByRole('alert').textContent()).toBe('Error: runId is required')
    expect(requests.filter((url) => url.includes('/runs'))).toEqual([])
  })

  it('stores the token nowhere: not in storage, not in the address, not across a reload', async () => {
    await load()
    await page.locator('#token').fill(token)
    const operation = await openOperation('tokens.self')
    await operation.getByRole('button', { name: 'Send' }).click()
    await operation.getByText(/^200 in/).waitFor()

    expect(await page.evaluate('localStorage.length + sessionStorage.length')).toBe(0)
    expect(await page.context().cookies()).toEqual([])
    expect(requests.join()).not.toContain(token)
    await page.reload()
    expect(await page.locator('#token').inputValue()).toBe('')
  })

  it('can be used with the keyboard alone', async () => {
    await load()
    const focused = () => page.evaluate<string>('document.activeElement.textContent || document.activeElement.id')

    await page.locator('a[href="#agents.list"]').waitFor()
    await page.keyboard.press('Tab')
    expect(await focused()).toBe('Skip to the operations')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    expect(await focused()).toBe('')
    await page.keyboard.press('Tab')
    expect(await focused()).toContain('/agents')
    await page.keyboard.press('Enter')
    await page.getByRole('article', { name: 'agents.list' }).locator('form').waitFor()
    for (let steps = 0; steps < 40 && !(await focused()).startsWith('Send'); steps++) await page.keyboard.press('Tab')
    const outline = await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')
    expect(outline).toBe('solid')
    await page.keyboard.press('Enter')
    await page
      .getByRole('article', { name: 'agents.list' })
      .getByText(/^401 in/)
      .waitFor()
  })

  it('opens the operation named in the address', async () => {
    await load()
    await page.goto(`${server.url}/docs#runs.abort`)

    await page.getByRole('article', { name: 'runs.abort' }).locator('form').waitFor()
  })

  it('shows a readable list without JavaScript', async () => {
    const plain = await newPage({ javaScriptEnabled: false })
    await load(plain)

    expect(await plain.locator('#token').count()).toBe(0)
    await plain.locator('[id="agents.run"] > summary').click()
    expect(await plain.locator('[id="agents.run"]').getByText('Requires the scope').isVisible()).toBe(true)
    expect(await plain.locator('form').count()).toBe(0)
    await picture('without-javascript', plain)
    await plain.context().close()
  })

  it('has readable contrast in light and dark mode, in wide and narrow windows', async () => {
    await load()
    await openOperation('agents.run')
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const width of [1200, 360]) {
        await page.emulateMedia({ colorScheme })
        await page.setViewportSize({ width, height: 900 })
        await picture(`${colorScheme}-${width}`)

        expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
        expect(await page.evaluate<string[]>(LOW_CONTRAST), `${colorScheme} ${width}`).toEqual([])
      }
    }
  })
})

/** Runs in the page: texts with a contrast ratio below 4.5 to 1 (WCAG AA). */
const LOW_CONTRAST = `(() => {
  const channels = (color) => color.match(/[\\d.]+/g).slice(0, 4).map(Number)
  const luminance = (color) => {
    const [r, g, b] = channels(color).map((c) => c / 255).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const paper = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor
      if ((channels(color)[3] ?? 1) === 1) return color
    }
    return 'rgb(255, 255, 255)'
  }
  const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
  return [...document.querySelectorAll('body *')]
    .filter((element) => element.checkVisibility() && [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
    .filter((element) => ratio(luminance(getComputedStyle(element).color), luminance(paper(element))) < 4.5)
    .map((element) => element.outerHTML.slice(0, 80))
})()`
