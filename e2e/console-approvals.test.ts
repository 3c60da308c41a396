import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { needsTool } from '../tooling/needed-tool.ts'
import { type ConsoleWorld, openConsoleWorld, signedIn } from './console-browser.ts'
import { createToken } from './perdure-process.ts'

const CONFIG = join(import.meta.dirname, 'fixtures/console-approvals.config.mjs')

let world: ConsoleWorld

/** Opens the page of the approval of a new run. */
async function openApproval(scopes: string, input: object = {}) {
  const { runId } = await world.rest.agents.run('pays', { input })
  const { page, open } = await signedIn(world, await createToken(world.sandbox, scopes, 'guest'))
  await open(`#/approvals?run=${runId}`)
  const card = page.locator('.approval')
  await card.getByRole('heading', { name: 'Pay the invoice?' }).waitFor()
  return { runId, page, card }
}

const factIn = (text: string, name: string) => text.replaceAll(/\s+/g, ' ').includes(name)

needsTool('chromium').describe('an approval in the console in Chromium', () => {
  beforeAll(async () => {
    world = await openConsoleWorld({}, CONFIG)
  })
  afterEach(() => world.closePages())
  afterAll(() => world?.close())

  it('shows who decides, when the reminder is due and the arguments, which the staff can change', async () => {
    const { runId, card } = await openApproval('admin:*')
    const text = await card.innerText()
    for (const fact of ['Assigned to staff', 'Then assigned to user', 'Reminder', '"invoice": "R-7"', '"amount": 60']) {
      expect([fact, factIn(text, fact)]).toEqual([fact, true])
    }

    await card.getByText('Change the arguments').click()
    await card.getByLabel('Arguments', { exact: true }).fill('{"to":"mia","amount":40}')
    await card.getByRole('button', { name: 'Approve' }).click()

    await expect
      .poll(async () => (await world.rest.runs.get(runId)).result)
      .toMatchObject({ ok: true, value: 'paid 40 to mia' })
    const [approval] = (await world.rest.approvals.list({ runId })).items
    expect(approval).toMatchObject({ args: { amount: 60 }, editedArgs: { amount: 40 } })
  })

  it('cannot be decided by a user before the reminder has assigned it to the user', async () => {
    const scopes = 'agents:read,agents:invoke,runs:read,approvals:read,approvals:resolve:own'
    const { page, card } = await openApproval(scopes, { remindAfter: '1h' })
    await card.getByText('Waiting for a colleague: only staff may decide.').waitFor()
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0)

    const reminded = await openApproval('admin:*', { remindAfter: '1s' })
    await expect
      .poll(async () => {
        await reminded.page.reload()
        await reminded.card.waitFor()
        return factIn(await reminded.card.innerText(), 'Assigned to user')
      })
      .toBe(true)
    expect(factIn(await reminded.card.innerText(), 'Then assigned to')).toBe(false)
  })
})
