import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createClient } from '../packages/client/src/index.ts'
import { SCOPES } from '../packages/protocol/src/scopes.ts'
import { accessibilityProblems, signedIn, TAKES_PICTURES } from './console-browser.ts'
import { describeConsole, enter, enterWith, run, world } from './console-suite.ts'

/** The address of each page; `%` stands for the id of a run. */
const PAGES = [
  ...[
    '',
    'runs',
    'runs/%',
    'runs/%?tab=compare',
    'runs/%?tab=messages',
    'start/agent/order',
    'approvals',
    'live',
    'sessions',
    'sessions/tea',
    'chats',
    'chats/clerk/new',
    'chats/clerk/tea-chat',
  ],
  ...['workflows', 'workflows/parallel/graph'],
  ...[
    'triggers',
    'triggers/morning',
    'hooks',
    'hooks/shop',
    'audit',
    'tokens',
    'memory',
    'metrics',
    'system',
    'api',
    'api?op=memory.create-fact',
  ],
]

/** The pages that a session with one of these scopes has, besides the pages that every session has. */
const PAGES_OF: Readonly<Record<string, readonly string[]>> = {
  'agents:read': ['Runs', 'Live'],
  'agents:invoke': ['Start a run'],
  'runs:read': ['Runs', 'Evals'],
  'approvals:read': ['Approvals', 'Live'],
  'workflows:read': ['Runs', 'Live', 'Workflows'],
  'workflows:execute': ['Start a run'],
  'sessions:read': ['Live', 'Sessions'],
  'memory:read': ['Live', 'Memory'],
  'skills:read': ['Memory'],
  'mcp:read': ['Memory'],
  'tokens:read': ['Tokens'],
  'audit:read': ['Live', 'Audit'],
  'triggers:read': ['Triggers'],
  'hooks:read': ['Hooks'],
  'admin:metrics:read': ['Metrics'],
}
const ADDRESSES: Readonly<Record<string, string>> = {
  ...{ Runs: 'runs', 'Start a run': 'start', Approvals: 'approvals', Live: 'live', Sessions: 'sessions' },
  ...{
    Workflows: 'workflows',
    Triggers: 'triggers',
    Hooks: 'hooks',
    Audit: 'audit',
    Tokens: 'tokens',
    Memory: 'memory',
    Metrics: 'metrics',
    Evals: 'evals',
  },
}
const ALL_SCOPES = Object.entries(SCOPES).flatMap(([scope, { third }]) =>
  Array.isArray(third) ? third.map((part: string) => `${scope}:${part}`) : [scope],
)

const PAGE_FOLDER = join(import.meta.dirname, '../packages/console/dist/page')

/** Uses the buttons and foldable parts of the page one by one, and returns the addresses of its links. */
const USE_EVERY_CONTROL = `(async () => {
  const { hash } = location
  const used = new Set()
  const frame = () => new Promise((resolve) => setTimeout(resolve, 30))
  const next = () =>
    [...document.querySelectorAll('main button, main summary, .foot .search')].find((one) => {
      const name = one.tagName + (one.getAttribute('aria-label') ?? one.textContent)
      // A revoked token would end the session of this test, or of another one.
      if (used.has(name) || one.disabled || /Revoke$/.test(name) || one.matches('.span-row, .event-row')) return false
      used.add(name)
      return true
    })
  const links = [...document.querySelectorAll('a[href]')].map((one) => one.href)
  for (let control = next(); control !== undefined && used.size < 40; control = next()) {
    control.click()
    await frame()
    for (const dialog of document.querySelectorAll('dialog[open]')) {
      for (const button of dialog.querySelectorAll('button')) used.add('BUTTON' + button.textContent)
      dialog.close()
    }
    if (location.hash !== hash) {
      location.hash = hash
      await frame()
    }
  }
  return { clicks: used.size, links }
})()`

/** These give a page, or a part of the page System. */
const EACH_ALONE = [...Object.keys(PAGES_OF), 'secrets:read', 'consolidator:read', 'config:read']

/** Goes to each address, and returns those that show the page 403. */
const forbiddenAmong = (addresses: readonly string[]) => `(async () => {
  const forbidden = []
  for (const address of ${JSON.stringify(addresses)}) {
    location.hash = '#/' + address
    for (let tries = 0; tries < 100 && document.querySelector('h1').textContent !== '403'; tries++)
      await new Promise((resolve) => setTimeout(resolve, 10))
    if (document.querySelector('h1').textContent === '403') forbidden.push(address)
    location.hash = '#/system'
    while (document.querySelector('h1').textContent === '403') await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return forbidden
})()`

/** CONSOLE_MINUTES=10 is the long form of a visit. */
const VISIT_MS = process.env.CONSOLE_MINUTES === undefined ? 4_000 : Number(process.env.CONSOLE_MINUTES) * 10_000

/** Begins a chat, as a page of a user does. */
async function chat(id: string, text: string): Promise<void> {
  const response = await fetch(`${world.server().url}/agents/clerk/chat`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${world.token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ id, messages: [{ id: text, role: 'user', parts: [{ type: 'text', text }] }] }),
  })
  await response.text()
}

describeConsole('the limits of the console in Chromium', () => {
  it('loads in at most 10 requests and 60 kB of compressed files', async () => {
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

    // A list is read again once its subscription has begun, on a slow machine before this point.
    expect(new Set(requests).size, requests.join('\n')).toBeLessThanOrEqual(10)
    // The page, the style, and the scripts of the first page; those of other pages are loaded when they are opened.
    expect(sizes.length).toBe(4)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(60_000)
    const files = readdirSync(PAGE_FOLDER)
    const sizeOf = (name: string) => statSync(join(PAGE_FOLDER, name)).size
    expect(files.filter((name) => name.endsWith('.gz') && sizeOf(name) > 100_000)).toEqual([])
    const pages = files.filter((name) => !/\.(br|gz)$/.test(name) && name !== 'docs.html')
    // All pages together; a page is loaded when it is opened. The page of the API has the table of errors.
    expect(pages.reduce((sum, name) => sum + sizeOf(name), 0)).toBeLessThan(295_000)
    expect(sizeOf('docs.html')).toBeLessThan(80_000)
  })

  it('shows hostile texts as text, and violates no policy', async () => {
    const { runId } = await run('hostile', { html: '<img src=x onerror=alert(1)>' }, { sessionId: 'hostile' })
    const markup = '<script>alert(1)</script><img src=x onerror=alert(1)>'
    await world.rest.tokens.create({ name: markup, scopes: ['agents:read'] })
    await world.rest.memory.createFact({ text: markup, tags: [markup] })
    await world.rest.sessions.update('hostile', { title: markup })
    await world.rest.agents.run('echo', { input: { markup }, sessionId: 'hostile' })
    const { threadId = '' } = await world.rest.workflows.execute('hostile', { input: markup })
    const { id: deliveryId } = await world.rest.hooks.test('shop', { body: { isFlaky: true, markup } })
    const { page, open, complaints, requests } = await enter()
    const fragments = ['#/', '#/runs', `#/runs/${runId}`, '#/start/agent/hostile', '#/approvals', '#/live']
    fragments.push('#/sessions', '#/sessions/hostile', '#/workflows', '#/triggers', '#/triggers/morning', '#/audit')
    fragments.push('#/hooks', '#/hooks/shop', `#/hooks/shop/${deliveryId}`)
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

    const labels = await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allTextContents()
    expect(labels.map((label) => label.replace(/ \d+ waiting$/, ''))).toEqual([
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

  it('reads lists again for a session that may not follow the events of the whole server', async () => {
    const { page, open } = await enterWith('runs:read')
    await open('#/runs')
    await page.locator('.pill', { hasText: 'every 10 s' }).waitFor()
    const rows = page.locator('main tbody tr')
    await rows.first().waitFor()
    const before = await rows.count()
    await run('echo', {})

    await expect.poll(() => rows.count()).toBe(before + 1)
    expect(await page.locator('.pill', { hasText: 'every 10 s' }).count()).toBe(1)
  })

  it('draws exactly the pages of each scope, and asks for nothing that the scope does not allow', async () => {
    const wrong: string[] = []
    // The scopes that give no page share a token.
    const tokens = [...EACH_ALONE.map((scope) => [scope]), ALL_SCOPES.filter((scope) => !EACH_ALONE.includes(scope))]
    for (const scopes of tokens) {
      const [scope = ''] = scopes
      const { token } = await world.rest.tokens.create({ name: 'one scope', scopes })
      const { page, context, open } = await signedIn(world, token)
      page.on('response', (response) => response.status() === 403 && wrong.push(`${scope}: 403 for ${response.url()}`))
      const wanted = PAGES_OF[scope] ?? []
      const labels = await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allTextContents()
      const own = labels.map((label) => label.replace(/ \d+ waiting$/, '')).filter((label) => label in ADDRESSES)
      expect(own.toSorted(), scope).toEqual(wanted.toSorted())
      for (const address of [...wanted.map((label) => ADDRESSES[label]), 'system']) {
        await open(`#/${address}`)
        await expect.poll(() => page.locator('.loading').count(), { interval: 20 }).toBe(0)
      }
      const others = Object.entries(ADDRESSES).flatMap(([label, address]) => (wanted.includes(label) ? [] : [address]))
      expect(await page.evaluate(forbiddenAmong(others)), scope).toEqual(others)
      await context.close()
    }

    expect(wrong).toEqual([])
  })

  it('asks no other host, whatever control is used on any page', async () => {
    const { runId } = await run('order', { item: 'tea' }, { sessionId: 'tea' })
    await chat('tea-chat', 'order tea')
    await run('asks')
    const { page, open, requests, complaints } = await enter()
    const own = new URL(world.url()).host
    let used = 0
    for (const address of PAGES) {
      await open(`#/${address.replace('%', runId)}`)
      await page.waitForTimeout(100)
      const { clicks, links } = await page.evaluate<{ clicks: number; links: string[] }>(USE_EVERY_CONTROL)
      used += clicks
      expect(
        links.filter((link) => new URL(link).host !== own),
        address,
      ).toEqual([])
    }

    expect(used).toBeGreaterThan(60)
    expect(requests.filter((url) => new URL(url).host !== own)).toEqual([])
    expect(complaints.filter((text) => !text.startsWith('Failed to load resource'))).toEqual([])
  })

  it('sends at most 30 requests per minute while a page is open, however much happens', async () => {
    const { page, open, requests } = await enter()
    const { threadId = '' } = await world.rest.workflows.execute('onboarding', { input: {} })
    await chat('busy-chat', 'hello')
    const busy = new AbortController()
    const work = (async () => {
      for (let n = 0; !busy.signal.aborted; n++) {
        const { runId } = await run('asks', { n }, { sessionId: 'busy' })
        await world.rest.runs.abort(runId, {})
        await run('echo', n, { sessionId: 'busy' })
        await chat('busy-chat', `hello ${n}`)
        await world.rest.triggers.fire('morning')
        await world.rest.workflows.execute('parallel', { input: n })
      }
      return true
    })()
    for (const address of [
      '',
      'runs',
      'approvals',
      'triggers/morning',
      'sessions/busy',
      'chats/echo',
      'chats/clerk/busy-chat',
      `workflows/onboarding/${threadId}`,
    ]) {
      await open(`#/${address}`)
      await page.waitForTimeout(500)
      const before = requests.length
      await page.waitForTimeout(VISIT_MS)
      const sent = requests.length - before
      console.log(`#/${address}: ${sent} requests in ${VISIT_MS / 1_000} s`)
      // The first reads follow each other more quickly than the later ones.
      expect(sent, address).toBeLessThanOrEqual(Math.max(12, (30 * VISIT_MS) / 60_000))
    }
    busy.abort()
    expect(await work).toBe(true)
  })

  it('moves nothing for a reader who has asked for reduced motion', async () => {
    const { page, open } = await enter()
    await open('#/start/agent/echo')
    const motion = async () => {
      await page.getByRole('button', { name: 'Copy as curl' }).click()
      await page.locator('.message').waitFor()
      return page.evaluate<string>(`getComputedStyle(document.querySelector('.message')).animationName`)
    }
    page.on('dialog', (dialog) => void dialog.dismiss())
    await page.context().grantPermissions(['clipboard-write'])

    expect(await motion()).toBe('none')
    await page.emulateMedia({ reducedMotion: 'no-preference' })
    expect(await motion()).toBe('rise')
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
    await chat('tea-chat', 'order tea')
    const asked = await run('asks')
    await world.rest.approvals.resolve((await world.rest.approvals.list({ runId: asked.runId })).items[0]?.id ?? '', {
      approved: true,
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
    const { page, open, complaints, requests } = await enter()
    await open('#/live')
    await page.getByText('live', { exact: true }).waitFor()
    await run('echo', 'before')
    await page.getByText('run.completed').first().waitFor()
    const client = () => createClient({ baseUrl: world.server().url, token: world.token })

    await world.server().kill('SIGTERM')
    await page.getByText('The server does not answer').waitFor()
    await page.getByText('run.completed').first().waitFor()
    const before = requests.length
    await page.waitForTimeout(3_000)
    // The attempts to connect become rarer.
    expect(requests.length - before).toBeLessThan(8)
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
