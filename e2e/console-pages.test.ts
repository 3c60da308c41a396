import type { BrowserContext, Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { createClient } from '../packages/client/src/index.ts'
import { describeConsole, enter, run, world } from './console-suite.ts'
import { perdure } from './perdure-process.ts'

/** Such as `2026-03-29T02:30` for `Sunday, 29 March 2026 at 02:30:00`. */
function dateAndTime(local: string): string {
  const [, date, time] = /, (.+) at (\d\d:\d\d)/.exec(local) ?? []
  return `${new Date(`${date} UTC`).toISOString().slice(0, 10)}T${time}`
}

/** The future fires that the calendar shows in this month and the following ones, such as `2026-03-29T02:30`. */
const firesOfMonths = (page: Page, months: number) =>
  page.evaluate<string[]>(`(async () => {
    const shown = new Set()
    for (let month = 0; ; month++) {
      for (const day of document.querySelectorAll('.day'))
        for (const fire of day.querySelectorAll('.fire-future'))
          shown.add(day.dataset.date + 'T' + /\\d\\d:\\d\\d/.exec(fire.textContent)[0])
      if (month === ${months}) return [...shown].sort()
      document.querySelector('[aria-label="Next month"]').click()
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
    }
  })()`)

/** The colours of a screenshot, such as `#4a78c8`. */
async function pixelsOf(context: BrowserContext, png: Buffer) {
  // A page without a Content-Security-Policy, because only a browser is at hand to decode the picture.
  const page = await context.newPage()
  await page.evaluate(`(async () => {
    const image = new Image()
    image.src = 'data:image/png;base64,${png.toString('base64')}'
    await image.decode()
    globalThis.canvas = new OffscreenCanvas(image.width, image.height).getContext('2d')
    canvas.drawImage(image, 0, 0)
  })()`)
  return {
    at: (x: number, y: number) =>
      page.evaluate<string>(
        `'#' + [...canvas.getImageData(${Math.round(x)}, ${Math.round(y)}, 1, 1).data].slice(0, 3)
          .map((part) => part.toString(16).padStart(2, '0')).join('')`,
      ),
  }
}

/** What `perdure triggers next` prints. */
async function printedFires(trigger: string) {
  const args = ['triggers', 'next', trigger, '--count', '200', '--url', world.server().url, '--token', world.token]
  const { stdout } = await perdure(world.sandbox, [...args, '--json'])
  return (JSON.parse(stdout) as { readonly items: readonly { readonly local: string; readonly offset: string }[] })
    .items
}

describeConsole('the further pages of the console in Chromium', () => {
  it('says what a workflow waits for, and shows that it continues', async () => {
    const { threadId = '' } = await world.rest.workflows.execute('onboarding', { input: {} })
    const { page, open } = await enter()
    await open(`#/workflows/onboarding/${threadId}`)
    await page.getByText('Waits for the event “confirmed”').waitFor()
    await page.locator('.steps li', { hasText: 'create account' }).getByText('completed').waitFor()

    await world.rest.events.emit('confirmed', { payload: {} })

    await page.locator('.facts').getByText('completed').waitFor()
    await open('#/workflows')
    await page.getByRole('row', { name: /thr_/ }).first().waitFor()
  })

  it('shows the transcript of a session as it grows', async () => {
    await run('echo', 'good morning', { sessionId: 'talk' })
    const { page, open } = await enter()
    await open('#/sessions')
    await page.getByRole('link', { name: 'talk' }).click()
    await page.getByText('good morning').first().waitFor()

    await run('echo', 'good night', { sessionId: 'talk' })

    await page.getByText('good night').first().waitFor()
  })

  it('shows the fires of a trigger, marks the days on which clocks change, and fires it', async () => {
    const { page, open, picture } = await enter()
    await open('#/triggers/morning')
    await page.getByText('times in Europe/Berlin').waitFor()
    const upcoming = await world.rest.triggers.next('morning', { count: 200 })
    expect(upcoming.fires).toHaveLength(200)
    for (let months = 0; months < 12; months++) {
      if ((await page.locator('.clock-change').count()) > 0) break
      await page.getByRole('button', { name: 'Next month' }).click()
    }
    expect(await page.locator('.clock-change').count()).toBe(1)
    await picture('calendar')

    await page.getByRole('button', { name: 'Fire now' }).click()
    await page.locator('h1 .status', { hasText: 'completed' }).waitFor()
    await open('#/triggers/morning')
    await page.getByText('yes', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Disable' }).click()
    await page.getByRole('button', { name: 'Enable' }).click()
    await page.getByRole('button', { name: 'Disable' }).waitFor()
  })

  it('lists the deliveries of a hook, shows a dead one, and replays it', async () => {
    const { page, open, picture } = await enter()
    await world.rest.hooks.test('shop', { body: { order: 7 } })
    const { reason } = await world.rest.hooks.test('shop', { body: { isFlaky: true, order: 8 } })
    await open('#/hooks')
    await page.getByRole('row', { name: /payments .*stripe the event paid/ }).waitFor()
    await page.getByRole('link', { name: 'shop', exact: true }).click()
    await page.getByRole('row', { name: /accepted/ }).waitFor()
    await picture('hook')
    await page.getByLabel('Status').selectOption('dead')
    await expect.poll(() => page.locator('main tbody tr').count()).toBe(1)
    expect(await page.locator('main tbody').textContent()).toContain(reason)

    await page.locator('main tbody a').click()
    await page.getByLabel('Body', { exact: true }).last().getByText('"order": 8').waitFor()
    await page.getByLabel('Headers', { exact: true }).last().getByText('perdure-hooks-test').waitFor()
    await picture('hook-delivery')
    await page.getByRole('button', { name: 'Replay' }).click()
    await page.locator('.facts .status', { hasText: 'accepted' }).waitFor()
    expect((await world.rest.hooks.deliveries('shop', { status: 'dead' })).items).toEqual([])

    await page.getByRole('link', { name: 'shop', exact: true }).click()
    await page.getByRole('button', { name: 'Send a sample' }).click()
    await expect.poll(() => page.locator('main tbody tr').count()).toBe(3)
  })

  it('creates a token that it shows once, and revokes it', async () => {
    const { page, open, picture } = await enter()
    await open('#/tokens')
    await page.getByRole('button', { name: 'Create a token' }).click()
    await page.getByLabel('Name').fill('from the page')
    await page.getByLabel('agents:read', { exact: true }).check()
    await picture('create-token')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    const token = (await page.locator('.secret').textContent()) ?? ''
    expect((await createClient({ baseUrl: world.server().url, token }).tokens.self()).scopes).toEqual(['agents:read'])

    await page.getByRole('button', { name: 'Done' }).click()
    expect(await page.content()).not.toContain(token)
    await page.getByRole('button', { name: 'Revoke from the page' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('row', { name: /from the page.*revoked/ }).waitFor()
    const refused = await fetch(`${world.server().url}/agents`, { headers: { Authorization: `Bearer ${token}` } })
    expect(refused.status).toBe(401)
  })

  it('compares what is asked with the last approved call', async () => {
    const before = await run('asks', { version: '1.2', to: { host: 'staging' } })
    const approvals = await world.rest.approvals.list({ runId: before.runId })
    await world.rest.approvals.resolve(approvals.items[0]?.id ?? '', { approved: true })
    const { runId } = await run('asks', { version: '1.3', to: { host: 'staging' } })
    const { page, open } = await enter()
    await open(`#/approvals?run=${runId}`)

    await page.getByText('Different from the last approved call').waitFor()
    await page.getByRole('row', { name: 'version 1.2 1.3 ≠ changed' }).waitFor()
    await page.getByRole('row', { name: 'to.host staging staging same' }).waitFor()
    await world.rest.runs.abort(runId, {})
  })

  it('draws the calls of a workflow as a graph, those at the same time beside each other', async () => {
    const { threadId = '' } = await world.rest.workflows.execute('parallel', { input: 1 })
    const { page, open, picture } = await enter()
    await open(`#/workflows/parallel/${threadId}`)

    await page.getByLabel('Graph of 4 calls in 3 layers; the list below has the same calls').waitFor()
    expect(await page.locator('.graph line').count()).toBe(4)
    const rows = await page.evaluate<string[]>(
      `[...document.querySelectorAll('.graph g')].map((node) => node.getAttribute('transform').split(' ')[1])`,
    )
    expect(new Set(rows).size).toBe(3)
    await picture('graph')
  })

  it('replays a session with a slider', async () => {
    for (const text of ['one', 'two', 'three']) await run('echo', text, { sessionId: 'replayed' })
    const { page, open } = await enter()
    await open('#/sessions/replayed')
    await page.getByText('three').first().waitFor()
    const slider = page.getByLabel('Replay')
    await slider.focus()
    await page.keyboard.press('Home')

    await page.getByText('message 1 of 6').waitFor()
    expect(await page.locator('.chat li').count()).toBe(1)
    expect(await page.locator('.chat').textContent()).toContain('one')
    await page.keyboard.press('End')
    await page.locator('.chat').getByText('three').first().waitFor()
  })

  it('compares a run with the one that it repeats, and with any other', async () => {
    const { runId } = await run('order', { item: 'tea' })
    const { runId: otherId } = await run('order', { item: 'cake', size: 'large' })
    const { page, open } = await enter()
    await open(`#/runs/${otherId}?tab=compare`)

    await page.getByRole('row', { name: 'item tea cake ≠ changed' }).first().waitFor()
    await page.getByRole('row', { name: 'size – large + added' }).first().waitFor()
    await page.getByRole('row', { name: /^look up the price / }).waitFor()
    await page.getByLabel('Compare with run').fill(otherId)
    await page.keyboard.press('Enter')
    await page.getByRole('row', { name: 'item cake cake same' }).first().waitFor()
    expect(runId).not.toBe(otherId)
  })

  it('draws each bar of the waterfall where its span was, in the colour of its kind, as the table says', async () => {
    const { runId } = await run('timed')
    const log = (await world.rest.runs.events(runId, { limit: 200 })).items
    const { startedAt = '', completedAt = '' } = await world.rest.runs.get(runId)
    const [from, to] = [Date.parse(startedAt), Date.parse(completedAt)]
    const shareOf = (type: string, name: string) => {
      const found = log.find(({ type: one, payload }) => one === type && JSON.stringify(payload).includes(`"${name}"`))
      return (Date.parse(found?.at ?? '') - from) / (to - from)
    }
    const known = [
      {
        name: 'prepare',
        colour: '--step',
        left: shareOf('step.start', 'prepare'),
        right: shareOf('step.end', 'prepare'),
      },
      {
        name: 'send',
        colour: '--bad',
        left: shareOf('step.start', 'send'),
        right: shareOf('tool.execute.error', 'send'),
      },
      {
        name: 'clean up',
        colour: '--step',
        left: shareOf('step.start', 'clean up'),
        right: shareOf('step.end', 'clean up'),
      },
    ]
    const { page, context, open } = await enter()
    await page.emulateMedia({ colorScheme: 'light' })
    await open(`#/runs/${runId}`)
    await page.locator('.span-row').nth(3).waitFor()
    const screen = await pixelsOf(context, await page.screenshot())
    for (const { name, colour, left, right } of known) {
      const row = page.locator('.span-row', { hasText: name })
      const [bar, track] = await Promise.all([row.locator('.bar').boundingBox(), row.locator('.track').boundingBox()])
      if (bar === null || track === null) throw new Error(`${name} has no bar`)
      const shown = [(bar.x - track.x) / track.width, (bar.x + bar.width - track.x) / track.width]

      expect(shown[0], name).toBeCloseTo(left, 1)
      expect(shown[1], name).toBeCloseTo(right, 1)
      const wanted = await page.evaluate<string>(
        `getComputedStyle(document.documentElement).getPropertyValue('${colour}').trim()`,
      )
      const middle = bar.y + bar.height / 2
      expect(await screen.at(bar.x + bar.width / 2, middle), name).toBe(wanted)
      expect(await screen.at(bar.x - 4, middle), name).not.toBe(wanted)
    }

    const names = await page.locator('.span-name').allTextContents()
    await page.getByRole('button', { name: 'Show as table' }).click()
    const rows = await page.evaluate<string[]>(
      `[...document.querySelectorAll('tbody tr')].map(({ cells }) => cells[1].textContent + ' ' + cells[0].textContent)`,
    )
    expect(rows.map((text) => text.trim())).toEqual(names.map((text) => text.trim()))
    expect(rows).toHaveLength(4)
  })

  it('shows the answer, the reasoning and the tools of a run, and raw values to those who may read them', async () => {
    const { runId } = await run('chat', 'hello')
    const { page, open } = await enter()
    await open(`#/runs/${runId}?tab=messages`)
    await page.getByLabel('Text of the answer').getByText('Good morning', { exact: true }).waitFor()
    await page.getByText('reasoning').click()
    await page.getByLabel('Reasoning').getByText('It is early.').waitFor()
    await page.locator('summary', { hasText: 'clock' }).click()
    await page.getByLabel('Result of clock').getByText('07:00').waitFor()

    await open(`#/runs/${runId}`)
    await page.locator('.span-row', { hasText: 'test small' }).getByText('30 tokens').waitFor()
    await page.locator('.span-row', { hasText: 'clock' }).click()
    await page.getByRole('button', { name: 'Show raw values' }).click()
    await page.getByLabel('Raw output of the span').getByText('07:00').waitFor()
    const audit = (await world.rest.audit.list({ limit: 10 })).items
    expect(audit.filter(({ action, target }) => action === 'runs.replay' && target === runId)).toHaveLength(1)
  })

  it('shows a decision that was asked for while the page opened its connection', async () => {
    const { page, context, open } = await enter()
    const isAsked = Promise.withResolvers<void>()
    await context.routeWebSocket(/\/v1\/ws/, async (socket) => {
      await isAsked.promise
      socket.connectToServer()
    })
    const isRead = page.waitForResponse((response) => /\/approvals\?.*pending/.test(response.url()))
    await page.reload()
    await open('#/')
    await isRead
    const { runId } = await run('asks')

    isAsked.resolve()

    await page.locator('nav .count').waitFor()
    await world.rest.runs.abort(runId, {})
  })

  it('says that the code of a page cannot be loaded, and loads it with another try', async () => {
    const { page, open } = await enter()
    await open('#/')
    await page.route('**/metrics-page-*.js', (route) => route.abort(), { times: 1 })
    await page.getByRole('link', { name: 'Metrics' }).click()
    await page.getByText('The code of this page could not be loaded').waitFor()

    await page.getByRole('button', { name: 'Try again' }).click()

    await page.getByLabel('Metric contains').waitFor()
  })

  it('names the agent and the run of each live event, and follows all events of one run', async () => {
    const { page, open } = await enter()
    await open('#/live')
    await page.locator('.pill', { hasText: 'live' }).waitFor()
    const { runId } = await run('order', { item: 'tea' })
    const row = page.locator('.event-row', { hasText: 'run.completed' }).last()
    await row.getByText('order', { exact: true }).waitFor()
    await row.getByText(runId.slice(-6)).waitFor()
    expect(await page.locator('.event-row', { hasText: 'step.end' }).count()).toBe(0)

    await row.click()
    await page.getByRole('link', { name: 'All events of the run' }).click()

    await page.locator('.event-row', { hasText: 'step.end' }).waitFor()
  })

  it('shows the beginning of inputs and results in the list of runs, and the target also in a narrow window', async () => {
    const { runId } = await run('order', { item: 'previewed tea' })
    const { page, open } = await enter()
    await open('#/runs')
    const row = page.locator('tbody tr', { has: page.locator(`[title="${runId}"]`) })
    await row.getByText('in {"item":"previewed tea"}').waitFor()
    await row.getByText('out {"item":"previewed tea","price":12}').waitFor()

    await page.setViewportSize({ width: 380, height: 800 })
    await row.getByText('order', { exact: true }).locator('visible=true').waitFor()
    expect(await page.evaluate<number>(`document.querySelector('.scroll').scrollWidth`)).toBeLessThanOrEqual(348)
  })

  it('shows the name of a token in place of its id, which is in the tooltip', async () => {
    const { token, id } = await world.rest.tokens.create({
      name: 'nightly job',
      scopes: ['agents:invoke', 'runs:read'],
    })
    const as = createClient({ baseUrl: world.server().url, token })
    const { runId } = await as.agents.run('echo', { input: 1 })
    const { owner } = await world.rest.runs.get(runId)
    const { page, open } = await enter()
    await open(`#/runs/${runId}`)

    expect(owner).toBe(id)
    await page.locator('.facts').getByText('nightly job').waitFor()
    expect(await page.locator('.facts').getByText('nightly job').getAttribute('title')).toBe(id)
  })

  it('draws the run as a tree, each wait once, and model calls with their tokens and cost', async () => {
    const { runId } = await run('asks')
    const { page, open } = await enter()
    await open(`#/runs/${runId}`)
    await page.locator('.span-row', { hasText: 'deploy' }).waitFor()
    expect(await page.locator('.span-name').allTextContents()).toEqual(['run asks', 'approval deploy'])
    await world.rest.runs.abort(runId, {})

    const nested = await run('nested')
    await open(`#/runs/${nested.runId}`)
    await page.locator('.span-row', { hasText: 'test small' }).getByText('30 tokens · $0.0042').waitFor()
    const indents = await page.evaluate<string[]>(
      `[...document.querySelectorAll('.span-name')].map((one) => one.style.paddingLeft + one.textContent)`,
    )
    expect(indents).toEqual(['0pxrun nested', '14pxstep ask', '28pxmodel test small', '14pxstep store'])
  })

  it('replays what a run has said, event by event', async () => {
    const { runId } = await run('chat', 'hello')
    const { page, open } = await enter()
    await open(`#/runs/${runId}?tab=messages`)
    await page.getByText('Good morning', { exact: true }).waitFor()
    await page.getByLabel('Replay').focus()
    await page.keyboard.press('Home')

    await page.getByText('event 1 of').waitFor()
    expect(await page.locator('.chat li').count()).toBe(1)
    await page.keyboard.press('End')
    await page.getByText('Good morning', { exact: true }).waitFor()
  })

  it('counts the decisions that wait in the navigation and in the title', async () => {
    const { page, open } = await enter()
    await open('#/')
    const count = async () => Number(/\d+/.exec((await page.locator('nav .count').textContent()) ?? '')?.[0] ?? 0)
    const { runId } = await run('asks')
    await page.locator('nav .count').waitFor()
    const waiting = (await world.rest.approvals.list({ status: 'pending', limit: 100 })).items.length
    await expect.poll(count).toBe(waiting)
    expect(await page.title()).toBe(`(${waiting}) Home · Perdure`)

    await world.rest.runs.abort(runId, {})
    await expect.poll(() => page.title()).toBe(waiting === 1 ? 'Home · Perdure' : `(${waiting - 1}) Home · Perdure`)
  })

  it('filters runs by a field, and zooms and moves in a waterfall', async () => {
    const failed = await run('fails-with', 'quota-exceeded')
    const { page, open } = await enter()
    await open('#/runs')
    const { error } = await world.rest.runs.get(failed.runId)
    await page.getByLabel('Error code is').fill(error?.code ?? '')
    await page.keyboard.press('Enter')
    await page.locator(`[title="${failed.runId}"]`).waitFor()
    expect(page.url()).toContain(`field=code&value=${error?.code}`)
    await page.getByLabel('Error code is').fill('unknown-code')
    await page.keyboard.press('Enter')
    await page.getByText('No runs match').waitFor()

    const { runId } = await run('timed')
    await open(`#/runs/${runId}`)
    await page.locator('.span-row', { hasText: 'send' }).click()
    const bar = () => page.locator('.span-row', { hasText: 'send' }).locator('.bar').boundingBox()
    const before = await bar()
    // The first step shows the selected span with as much before and after it, the second one a quarter of that.
    for (let step = 0; step < 2; step++) await page.getByRole('button', { name: 'Zoom in' }).click()
    await expect.poll(async () => (await bar())?.width ?? 0).toBeGreaterThan((before?.width ?? 0) * 1.2)
    const zoomed = await bar()
    for (let step = 0; step < 2; step++) await page.getByRole('button', { name: 'Later' }).click()
    await expect.poll(async () => (await bar())?.width).toBeLessThan((zoomed?.width ?? 0) / 2)
    await page.getByRole('button', { name: 'Whole run' }).click()
    await expect.poll(async () => (await bar())?.width).toBe(before?.width)
  })

  it('aborts several selected runs', async () => {
    const runs = [await world.rest.agents.start('slow', {}), await world.rest.agents.start('slow', {})]
    const { page, open } = await enter()
    await open('#/runs?status=running')
    for (const { runId } of runs) await page.getByLabel(`Select ${runId}`).check()
    await page.getByRole('button', { name: 'Abort 2 selected' }).click()

    await page.getByText('Aborted 2').waitFor()
    for (const { runId } of runs) expect((await world.rest.runs.get(runId)).status).toBe('aborted')
  })

  it('shows the metrics of the last hour, the storage, and the configuration with its origins', async () => {
    const { page, open } = await enter()
    await open('#/metrics')
    await page.getByLabel('queued_runs', { exact: true }).getByText('Runs that wait for a slot.').waitFor()
    await page.getByLabel('Metric contains').fill('memory')
    await page.getByLabel('queued_runs', { exact: true }).waitFor({ state: 'detached' })
    await page
      .getByLabel('process_resident_memory_bytes')
      .getByText(/max \d+ MiB/)
      .waitFor()

    await open('#/system')
    await page.getByRole('row', { name: /^console\.enabled true .*console\.config\.mjs:\d+$/ }).waitFor()
    await page.getByRole('row', { name: /^auth\.pepperRef env:… / }).waitFor()
    expect(await page.content()).not.toContain('E2E_PEPPER')
    await page.getByLabel('Field contains').fill('maxheaders')
    await page.getByRole('row', { name: /^server\.maxHeaders \d+ default$/ }).waitFor()
    await page.getByText('This server has the storage for itself.').waitFor()
  })

  it('calls an operation of the API with the session, and describes its answer', async () => {
    const { page, open } = await enter()
    await open('#/api')
    await page.getByLabel('Search operations').fill('memory.create')
    await page.getByRole('link', { name: 'POST /memory/facts' }).click()
    await page.getByLabel('Body (JSON)').fill('{"text":"written on the page"}')
    await page.getByRole('button', { name: 'Send POST' }).click()
    await page.getByRole('status', { name: 'Answer' }).getByText('201', { exact: true }).waitFor()
    expect((await world.rest.memory.listFacts({})).items.map(({ text }) => text)).toContain('written on the page')

    await open('#/api?op=runs.get')
    await page.getByLabel(/^runId/).fill('run_unknown')
    await page.getByRole('button', { name: 'Send GET' }).click()
    await page.getByRole('status', { name: 'Answer' }).getByText('404', { exact: true }).waitFor()
    await page.locator('summary', { hasText: '200' }).first().click()
    await page.getByText('finishReason').first().waitFor()
  })

  it('shows the fires of weeks and months at the times that `perdure triggers next` prints', async () => {
    const { page, open } = await enter()
    const zones = ['Europe-Berlin', 'America-New_York', 'Australia-Lord_Howe', 'Africa-Casablanca']
    const printed = await Promise.all(zones.map((zone) => printedFires(zone)))
    for (const [at, zone] of zones.entries()) {
      const known = new Set(printed[at]?.map(({ local }) => dateAndTime(local)))
      // The 200 fires are about four years, so that clocks change several times.
      expect(new Set(printed[at]?.map(({ offset }) => offset)).size, zone).toBeGreaterThan(
        zone.startsWith('Africa') ? 0 : 1,
      )
      await open(`#/triggers/${zone}`)
      await page.locator('.calendar').waitFor()
      const shown = await firesOfMonths(page, 13)
      const last = shown.at(-1) ?? ''
      expect(shown.length, zone).toBeGreaterThan(50)
      expect(shown, zone).toEqual([...known].filter((one) => one <= last))

      await page.getByRole('button', { name: 'Week', exact: true }).click()
      await page.getByRole('button', { name: 'Next week' }).click()
      expect(await firesOfMonths(page, 0), zone).toEqual([expect.toSatisfy((one) => known.has(one))])
    }
  })

  it('verifies the audit chain and filters its entries', async () => {
    const { page, open } = await enter()
    await open('#/audit')
    await page.getByRole('button', { name: 'Verify the chain' }).click()
    await page.getByText(/✓ Verified \d+ entries on the server/).waitFor()
    await page.getByRole('button', { name: 'Verify in this browser' }).click()
    await page.getByText(/✓ Verified \d+ entries in this browser/).waitFor()
    await page.getByLabel(/^(\d+) of \1 blocks of 100 entries are valid$/).waitFor()
    await page.route('**/audit/export', async (route) => {
      const response = await route.fetch()
      const lines = (await response.text()).split('\n')
      await route.fulfill({
        response,
        body: lines.with(2, (lines[2] ?? '').replace('"action":"', '"action":"x')).join('\n'),
      })
    })
    await page.getByRole('button', { name: 'Verify in this browser' }).click()
    await page.getByText('✕ Broken at entry 3: entry-altered').waitFor()
    await page.getByLabel('Action').fill('console.sign-in')
    await page.keyboard.press('Enter')

    await page.getByRole('cell', { name: 'tokens.create' }).first().waitFor({ state: 'detached' })
    await page.getByRole('cell', { name: 'console.sign-in' }).first().waitFor()
  })

  it('searches facts and forgets one', async () => {
    await world.rest.memory.createFact({ text: 'The customer prefers green tea.' })
    const { page, open } = await enter()
    await open('#/memory')
    await page.getByLabel('Search facts').fill('green tea')
    await page.getByRole('button', { name: 'Search' }).click()
    await page.getByRole('rowheader', { name: 'The customer prefers green tea.' }).waitFor()

    await page.getByRole('button', { name: /Forget The customer/ }).click()
    await page.getByText('No fact matches.').waitFor()
  })
})
