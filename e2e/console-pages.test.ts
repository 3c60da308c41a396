import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { createRestClient } from '../packages/client/src/index.ts'
import { needsTool } from '../tooling/needed-tool.ts'
import { CHROMIUM, hasChromium } from './browser-page.ts'
import { type ConsoleWorld, openConsoleWorld, signedIn } from './console-browser.ts'

let world: ConsoleWorld

const enter = (token?: string) => signedIn(world, token)

/** Starts a run and waits until it ends or is suspended. */
const run = (agentId: string, input: unknown = {}, more: object = {}) =>
  world.rest.agents.run(agentId, { input, ...more })

needsTool(CHROMIUM, hasChromium).describe('the further pages of the console in Chromium', () => {
  beforeAll(async () => {
    world = await openConsoleWorld()
  })

  afterEach(async () => {
    await world.closePages()
  })

  afterAll(async () => {
    await world?.close()
  })

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

  it('creates a token that it shows once, and revokes it', async () => {
    const { page, open, picture } = await enter()
    await open('#/tokens')
    await page.getByRole('button', { name: 'Create a token' }).click()
    await page.getByLabel('Name').fill('from the page')
    await page.getByLabel('agents:read', { exact: true }).check()
    await picture('create-token')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    const token = (await page.locator('.secret').textContent()) ?? ''
    expect((await createRestClient({ baseUrl: world.server().url, token }).tokens.self()).scopes).toEqual([
      'agents:read',
    ])

    await page.getByRole('button', { name: 'Done' }).click()
    expect(await page.content()).not.toContain(token)
    await page.getByRole('button', { name: 'Revoke from the page' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('row', { name: /from the page.*revoked/ }).waitFor()
    const refused = await fetch(`${world.server().url}/agents`, { headers: { Authorization: `Bearer ${token}` } })
    expect(refused.status).toBe(401)
  })

  it('verifies the audit chain and filters its entries', async () => {
    const { page, open } = await enter()
    await open('#/audit')
    await page.getByRole('button', { name: 'Verify the chain' }).click()
    await page.getByText(/✓ Verified \d+ entries/).waitFor()
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
