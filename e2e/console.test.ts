import type { Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { needsTool } from '../tooling/needed-tool.ts'
import { newConsolePage } from './console-browser.ts'
import { describeConsole, enter, run, world } from './console-suite.ts'
import { openDevTerminal } from './dev-terminal.ts'
import { createSandbox, perdure } from './perdure-process.ts'

/** Moves the focus with the Tab key until the focused element has this text or name. */
async function tabTo(page: Page, name: string) {
  for (let presses = 0; presses < 80; presses++) {
    await page.keyboard.press('Tab')
    const focused = await page.evaluate<string>(
      `(document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.labels?.[0]?.textContent
        ?? document.activeElement?.textContent ?? '').trim()`,
    )
    if (focused.startsWith(name)) return
  }
  throw new Error(`the Tab key does not reach ${name}`)
}

describeConsole('the console in Chromium', () => {
  it('signs in with the link of the command once, and leaves the code nowhere', async () => {
    const args = ['console', '--url', world.server().url, '--token', world.token, '--json']
    const { url } = JSON.parse((await perdure(world.sandbox, args)).stdout)
    const code = url.slice(url.indexOf('#code=') + 6)
    const first = await newConsolePage(world)

    await first.page.goto(url)
    await first.page.getByRole('heading', { name: 'Home' }).waitFor()
    const again = await newConsolePage(world)
    await again.page.goto(url)
    await again.page.getByText('the code is unknown, expired or already used').waitFor()

    expect(first.page.url()).toBe(`${world.url()}#/`)
    expect(world.server().stderr()).not.toContain(code)
    expect(first.requests.join()).not.toContain(code)
    const cookies = await first.context.cookies()
    const session = cookies.find(({ name }) => name.startsWith('perdure-console-'))
    expect(session).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/' })
    expect(
      await first.page.evaluate('document.cookie + JSON.stringify({ ...localStorage, ...sessionStorage })'),
    ).not.toContain(session?.value)
    await first.page.goBack()
    expect(first.page.url()).not.toContain(code)
  })

  it('opens a link that was used while its session lasts, in another tab and in the same one', async () => {
    const args = ['console', '--url', world.server().url, '--token', world.token, '--json']
    const link = async () => JSON.parse((await perdure(world.sandbox, args)).stdout).url
    const { page, context } = await newConsolePage(world)
    const used = await link()
    await page.goto(used)
    await page.getByRole('heading', { name: 'Home' }).waitFor()

    const other = await context.newPage()
    await other.goto(used)
    await other.getByRole('heading', { name: 'Home' }).waitFor()
    for (const again of [used, await link()]) {
      await page.getByRole('link', { name: 'Runs', exact: true }).click()
      await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor()
      await page.goto(again)
      await page.getByRole('heading', { name: 'Home' }).waitFor()
      expect(page.url()).toBe(`${world.url()}#/`)
    }

    const unavailable = { error: 'storage-unavailable', message: 'The storage cannot be reached.', requestId: 'r1' }
    await page.route('**/v1/console/session', (route) =>
      route.request().method() === 'POST' ? route.fulfill({ status: 503, json: unavailable }) : route.continue(),
    )
    await page.goto(await link())
    await page.getByText('The storage cannot be reached.').waitFor()
  })

  it('signs in with a token, stores it nowhere, and signs out', async () => {
    const one = await newConsolePage(world)
    const { page, context } = one
    await page.goto(world.url())
    await page.getByLabel('Token or code').fill('perdure_live_v1_wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').waitFor()

    await page.getByLabel('Token or code').fill(world.token)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Home' }).waitFor()
    const { name, value } = (await context.cookies()).find(({ name }) => name.startsWith('perdure-console-')) ?? {
      name: '',
      value: '',
    }
    expect(
      await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage }) + document.cookie'),
    ).not.toContain('perdure_live')

    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Token or code').waitFor()
    const answer = await fetch(`${world.server().url}/agents`, { headers: { cookie: `${name}=${value}` } })
    expect(answer.status).toBe(401)
  })

  needsTool('script').it('leads from the banner of `perdure dev` to the events of a first run', async () => {
    const { PERDURE_URL: _, PERDURE_TOKEN: __, ...env } = process.env
    const terminal = openDevTerminal({ dir: createSandbox().dir, env }, ['--no-watch', '--port', '0'])
    onTestFinished(terminal.kill)
    await terminal.shows(/#code=\S+ +\(works once/)
    const link = /http:\S+#code=\S+/.exec(terminal.screen())?.[0] ?? ''
    const before = performance.now()
    const { page, picture } = await newConsolePage(world)
    await page.goto(link)

    await page.getByText('Start your first run').waitFor()
    expect(await page.title()).toBe('[dev] Home · Perdure')
    await picture('first-run')
    await page.getByRole('link', { name: 'Run echo' }).click()
    await page.getByRole('button', { name: 'Start echo' }).click()
    await page.getByRole('link', { name: 'Events' }).click()
    await page.getByText('run.completed').waitFor()

    expect(performance.now() - before).toBeLessThan(60_000)
    const again = await newConsolePage(world)
    await again.page.goto(link)
    await again.page.getByText('the code is unknown, expired or already used').waitFor()
    terminal.press('q')
    expect(await terminal.exited).toBe(0)
  })

  it('shows a run of another client at once, and its end', async () => {
    const { page, open } = await enter()
    await open('#/runs?status=')
    await page.getByText('live', { exact: true }).waitFor()

    const { runId } = await world.rest.agents.start('slow', { input: null })
    const row = page.locator(`tr:has([title="${runId}"])`)
    await row.getByText('running').waitFor()
    await world.rest.runs.abort(runId, { reason: 'test' })

    await row.getByText('aborted').waitFor()
  })

  it('shows the waterfall, the events, the logs and the result of a run, and follows it live', async () => {
    const { page, open, picture } = await enter()
    const { runId } = await run('order', { item: 'tea' })
    await open(`#/runs/${runId}`)

    await page.locator('.span-row', { hasText: 'look up the price' }).click()
    await page.getByLabel('Selected span').getByText('step', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Show as table' }).click()
    await page.getByRole('row', { name: /look up the price step/ }).waitFor()
    await picture('run-table')
    await page.getByRole('link', { name: 'Events' }).click()
    await page.getByText('run.completed').waitFor()
    await page.getByRole('link', { name: 'Logs' }).click()
    await page.getByText('priced').waitFor()
    await page.getByRole('link', { name: 'Input and result' }).click()
    await page.getByText('"price": 12').waitFor()

    const live = await world.rest.agents.start('ticker', { input: { count: 30, everyMs: 200 } })
    await open(`#/runs/${live.runId}?tab=events`)
    await page.getByText('{"n":29}').waitFor()
    await page.locator('h1 .status', { hasText: 'completed' }).waitFor()
  })

  it('counts the duration of a suspended run until now', async () => {
    const { page, open } = await enter()
    const { runId } = await run('asks')
    await open(`#/runs/${runId}`)
    const duration = page.locator('.facts div', { hasText: 'Duration' }).locator('dd')
    const first = await duration.textContent()

    await expect.poll(() => duration.textContent()).not.toBe(first)
    await expect.poll(() => page.locator('.span-row .took').first().textContent()).toMatch(/^\d+\.\d+ s$/)
    await world.rest.runs.abort(runId, {})
  })

  it('starts a run with the form that the schema describes, and names what is wrong', async () => {
    const { page, open, picture } = await enter()
    await open('#/start/agent/order')
    await page.getByRole('button', { name: 'Start order' }).click()
    await page.getByText('item is required').waitFor()
    await page.getByLabel('item').fill('cake')
    await page.getByLabel('size').selectOption('large')
    await picture('start')
    await page.getByRole('button', { name: 'Start order' }).click()

    await page.locator('h1 .status', { hasText: 'completed' }).waitFor()
    await page.getByRole('link', { name: 'Input and result' }).click()
    await page.getByLabel('Input of the run').getByText('"item": "cake"').waitFor()
    await page.getByLabel('Input of the run').getByText('"count": 2').waitFor()
    await page.getByLabel('Input of the run').getByText('"size": "large"').waitFor()
  })

  it('reads a failure, retries it and approves what the new run asks, with the keyboard alone', async () => {
    const { page, picture } = await enter()
    const { runId } = await run('fails')
    await page.keyboard.press('/')
    await page.getByRole('dialog', { name: 'Go to' }).waitFor()
    await page.keyboard.type('Runs')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Runs' }).waitFor()
    await run('echo')
    await tabTo(page, 'Status')
    await page.keyboard.type('failed')
    await tabTo(page, 'Since')
    await page.keyboard.type('24')
    await expect.poll(() => page.url()).toContain('status=failed&since=24+hours')
    await page.locator(`[title="${runId}"]`).waitFor()
    expect(await page.locator('tbody .status').allTextContents()).toEqual(['✕failed'])
    await tabTo(page, runId.slice(0, 8))
    while (!(await page.evaluate<boolean>(`document.activeElement.title === '${runId}'`)))
      await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByText('the printer is on fire').waitFor()
    await tabTo(page, 'Show the stack')
    await page.keyboard.press('Enter')
    await page.getByText(/console\.config\.mjs:\d+/).waitFor()
    await picture('failed-run')

    await page.locator('h1').focus()
    await tabTo(page, 'Retry')
    await page.keyboard.press('Enter')
    await page.getByText('Suspended: waiting for approval print').waitFor()
    await tabTo(page, 'Decide the approval')
    await page.keyboard.press('Enter')
    await page.getByText('Print again?').waitFor()
    await tabTo(page, 'Print again?')
    await page.keyboard.press('a')

    await page.getByText('Approved print').waitFor()
    const forks = (await world.rest.runs.list({ agentId: 'fails' })).items.filter(
      ({ forkOf }) => forkOf?.runId === runId,
    )
    await expect.poll(async () => (await world.rest.runs.get(forks[0]?.id ?? '')).result).toEqual({ approved: true })
    const audit = (await world.rest.audit.list({ limit: 200 })).items.map(({ action }) => action)
    expect(audit).toEqual(expect.arrayContaining(['runs.replay', 'runs.retry', 'approvals.resolve']))
  })

  it('lets exactly one of two tabs decide an approval, and the other sees it', async () => {
    const { runId } = await run('asks')
    const [one, two] = [await enter(), await enter()]
    const card = (page: Page) => page.locator('.approval')
    for (const { open } of [one, two]) await open(`#/approvals?run=${runId}`)
    for (const { page } of [one, two]) await card(page).waitFor()
    // Both decisions are on their way before either is answered.
    const { promise: bothSent, resolve: release } = Promise.withResolvers<void>()
    let sent = 0
    for (const { page } of [one, two]) {
      await page.route('**/resolve', async (route) => {
        sent += 1
        if (sent === 2) release()
        await bothSent
        await route.continue()
      })
    }

    await Promise.all([
      one.page.getByRole('button', { name: 'Approve' }).click(),
      two.page.getByRole('button', { name: 'Deny' }).click(),
    ])

    for (const { page } of [one, two]) await card(page).waitFor({ state: 'detached' })
    const { status } = await world.rest.runs.get(runId)
    expect(status).toBe('completed')
    const messages = await Promise.all([one, two].map(({ page }) => page.locator('.message').textContent()))
    expect(messages.filter((text) => /^(Approved|Denied)/.test(text ?? ''))).toHaveLength(1)
    expect(messages.filter((text) => /else has decided|already/.test(text ?? ''))).toHaveLength(1)
  })
})
