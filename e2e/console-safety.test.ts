import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { createRestClient } from '../packages/client/src/index.ts'
import { needsTool } from '../tooling/needed-tool.ts'
import { CHROMIUM, hasChromium } from './browser-page.ts'
import {
  accessibilityProblems,
  type ConsoleWorld,
  openConsoleWorld,
  signedIn,
  TAKES_PICTURES,
} from './console-browser.ts'
import { createToken } from './perdure-process.ts'

/** The address of each page; `%` stands for the id of a run. */
const PAGES = [
  ...['', 'runs', 'runs/%', 'runs/%?tab=compare', 'start/agent/order', 'approvals', 'live', 'sessions', 'sessions/tea'],
  ...['workflows', 'workflows/parallel/graph'],
  ...[
    'triggers',
    'triggers/morning',
    'audit',
    'tokens',
    'memory',
    'metrics',
    'system',
    'api',
    'api?op=memory.create-fact',
  ],
]

let world: ConsoleWorld

const enter = (token?: string) => signedIn(world, token)

const enterWith = async (scopes: string) => enter(await createToken(world.sandbox, scopes, 'guest'))

/** Starts a run and waits until it ends or is suspended. */
const run = (agentId: string, input: unknown = {}, more: object = {}) =>
  world.rest.agents.run(agentId, { input, ...more })

needsTool(CHROMIUM, hasChromium).describe('the limits of the console in Chromium', () => {
  beforeAll(async () => {
    world = await openConsoleWorld()
  })

  afterEach(async () => {
    await world.closePages()
  })

  afterAll(async () => {
    await world?.close()
  })

  it('loads in at most 10 requests and 80 kB of compressed files', async () => {
    const { context } = await enter()
    const fresh = await world.browser.newContext({ storageState: await context.storageState() })
    const page = await fresh.newPage()
    const requests: string[] = []
    const sizes: number[] = []
    page.on('request', (request) => request.url().startsWith('data:') || requests.push(request.url()))
    page.on('websocket', (socket) => requests.push(socket.url()))
    page.on('response', (response) => {
      if (response.url().startsWith(world.url())) sizes.push(Number(response.headers()['content-length'] ?? 0))
    })
    await page.goto(world.url())
    await page.getByText('live', { exact: true }).waitFor()
    await page.locator('.checks').waitFor()
    await fresh.close()

    expect(requests.length, requests.join('\n')).toBeLessThanOrEqual(10)
    expect(sizes.length).toBe(3)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(80_000)
  })

  it('shows hostile texts as text, and violates no policy', async () => {
    const { runId } = await run('hostile', { html: '<img src=x onerror=alert(1)>' }, { sessionId: 'hostile' })
    const markup = '<script>alert(1)</script><img src=x onerror=alert(1)>'
    await world.rest.tokens.create({ name: markup, scopes: ['agents:read'] })
    await world.rest.memory.createFact({ text: markup, tags: [markup] })
    await world.rest.sessions.update('hostile', { title: markup })
    await world.rest.agents.run('echo', { input: { markup }, sessionId: 'hostile' })
    const { threadId = '' } = await world.rest.workflows.execute('hostile', { input: markup })
    const { page, open, complaints, requests } = await enter()
    const fragments = ['#/', '#/runs', `#/runs/${runId}`, '#/start/agent/hostile', '#/approvals', '#/live']
    fragments.push('#/sessions', '#/sessions/hostile', '#/workflows', '#/triggers', '#/triggers/morning', '#/audit')
    fragments.push(
      '#/tokens',
      '#/memory',
      '#/metrics',
      '#/system',
      '#/api',
      '#/api?op=<b>',
      `#/workflows/hostile/${threadId}`,
    )
    for (const tab of ['events', 'logs', 'data', 'json', 'compare']) fragments.push(`#/runs/${runId}?tab=${tab}`)
    fragments.push('#/runs/%3Cscript%3E', '#/<img src=x onerror=alert(1)>', '#/live?subject=<b>')
    for (const fragment of fragments) {
      await open(fragment)
      await page.waitForTimeout(150)
      expect(await page.evaluate(`document.querySelectorAll('main img, main script').length`), fragment).toBe(0)
      expect(await page.title()).not.toBe('owned')
    }

    await open(`#/runs/${runId}?tab=logs`)
    await page.getByText('<img src=x onerror=').first().waitFor()
    const own = new URL(world.url()).host
    expect(requests.filter((url) => new URL(url).host !== own)).toEqual([])
    // The browser itself reports the 404 of an unknown run and the refused subject.
    expect(complaints.filter((text) => !text.startsWith('Failed to load resource'))).toEqual([])
  })

  it('draws only the pages that the scopes allow, and gets no data of the others', async () => {
    const { runId } = await run('echo', { secret: 'in the input' })
    const { page, open, requests } = await enterWith('approvals:read')

    expect(await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allTextContents()).toEqual([
      'Home',
      'Approvals',
      'Live',
      'System',
      'API',
    ])
    for (const fragment of ['#/runs', `#/runs/${runId}`, '#/start/agent/echo', '#/tokens', '#/audit', '#/sessions/a']) {
      await open(fragment)
      await page.getByRole('heading', { name: '403' }).waitFor()
    }
    expect(requests.filter((url) => /\/v1\/(runs|agents|tokens)/.test(url))).toEqual([])
    expect(await page.content()).not.toContain('in the input')
  })

  it('draws no button for a change that the scopes do not allow', async () => {
    const { runId } = await run('asks')
    const { page, open } = await enterWith('runs:read,agents:read,approvals:read')
    await open(`#/runs/${runId}`)
    await page.getByText('Suspended:').waitFor()

    expect(await page.getByRole('button', { name: /Abort|Resume|Retry|Run again/ }).count()).toBe(0)
    await open(`#/approvals?run=${runId}`)
    await page.getByText('may read approvals but not decide them').waitFor()
    expect(await page.getByRole('button', { name: /Approve|Deny/ }).count()).toBe(0)
    await world.rest.runs.abort(runId, {})
  })

  it('has no problem of accessibility in light and dark mode, in wide and narrow windows', async () => {
    const { runId } = await run('order', { item: 'tea' }, { sessionId: 'tea' })
    const asked = await run('asks')
    await world.rest.approvals.resolve((await world.rest.approvals.list({ runId: asked.runId })).items[0]?.id ?? '', {
      granted: true,
    })
    await run('asks', { version: '2.0' })
    await world.rest.workflows.execute('parallel', { input: 1, threadId: 'graph' })
    const { page, open, picture } = await enter()
    const problems: string[] = []
    for (const [colorScheme, width] of [
      ['light', 1280],
      ['dark', 380],
      ['dark', 1280],
      ['light', 380],
    ] as const) {
      // Colours and widths do not depend on each other, so two of the four are enough for the rules.
      const isChecked = (colorScheme === 'light') === (width === 1280)
      if (!isChecked && !TAKES_PICTURES) continue
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      await page.setViewportSize({ width, height: 900 })
      for (const name of PAGES.map((page) => page.replace('%', runId))) {
        await open(`#/${name}`)
        await page.waitForTimeout(100)
        await picture(`${colorScheme}-${width}-${name.replace(runId, 'one').replaceAll(/\W/g, '-') || 'home'}`)
        if (!isChecked) continue
        for (const problem of await accessibilityProblems(page, width === 1280 ? 'all' : 'looks'))
          problems.push(`${name} ${colorScheme}: ${problem}`)
        const shown = await page.evaluate<number>('document.documentElement.scrollWidth')
        if (shown > width) problems.push(`${name}: ${shown} instead of ${width} pixels wide`)
      }
    }

    expect(problems).toEqual([])
  })

  it('keeps its view when the server stops, and shows every event once when the server is back', async () => {
    const { page, open, complaints } = await enter()
    await open('#/live')
    await page.getByText('live', { exact: true }).waitFor()
    await run('echo', 'before')
    await page.getByText('run.completed').first().waitFor()
    const client = () => createRestClient({ baseUrl: world.server().url, token: world.token })

    await world.server().kill('SIGTERM')
    await page.getByText('The server does not answer').waitFor()
    await page.getByText('run.completed').first().waitFor()
    await world.restart()
    const { runId } = await client().agents.run('echo', { input: 'after' })
    await page.getByText('live', { exact: true }).waitFor()
    await expect.poll(() => page.locator('.event-row', { hasText: 'run.completed' }).count()).toBe(2)

    const log = await client().runs.events(runId, { limit: 200 })
    const lifecycle = log.items.filter(({ type }) => type.startsWith('run.'))
    expect(lifecycle.length).toBeGreaterThan(0)
    expect(complaints.filter((text) => !/Failed to load resource|WebSocket connection/.test(text))).toEqual([])
  })
})
