import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { casesFromFiles } from '../packages/evals/src/index.ts'
import { needsTool } from '../tooling/needed-tool.ts'
import { accessibilityProblems, type ConsoleWorld, openConsoleWorld, signedIn } from './console-browser.ts'

const CONFIG = join(import.meta.dirname, 'fixtures/evals.config.mjs')
const PHONE = { viewport: { width: 380, height: 760 } }

const nothing = { inputTokens: 0, outputTokens: 0, costUsd: 0 }
const trial = (name: string, pass: boolean, text: string) => ({
  ...{ kind: 'trial', eval: 'refunds', case: name, trial: 1, of: 'hash', pass, text, tools: pass ? [] : ['refund'] },
  ...{ scores: [{ name: 'notCalledTool(refund)', pass }], usage: nothing, judged: nothing, ms: 1 },
})

/** A results file of `perdure eval`, for a file input. */
function resultsFile(name: string, isLateRight: boolean) {
  const entries = [
    { kind: 'start', format: 'perdure-eval-1', at: '2026-03-02T09:15:00.000Z' },
    trial('on time', isLateRight, isLateRight ? 'There is no refund.' : 'You get your money back.'),
    trial('late order', true, 'You get your money back.'),
  ]
  const buffer = Buffer.from(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''))
  return { name, mimeType: 'application/x-ndjson', buffer }
}

needsTool('chromium').describe('evals in the console in Chromium', () => {
  let world: ConsoleWorld
  beforeAll(async () => {
    world = await openConsoleWorld({}, CONFIG)
  })
  afterEach(() => world.closePages())
  afterAll(() => world?.close())

  const ask = async (text: string) => (await world.rest.agents.run('support', { input: { text } })).runId

  it('show what scorers say about runs, and two judged runs side by side', async () => {
    const rude = await ask('Hello')
    const polite = await ask('Hello, please')
    const { page, open, complaints, picture } = await signedIn(world)
    await open('#/evals')

    const scorers = page.getByRole('table', { name: /Scorers of support/ })
    await scorers.getByRole('row', { name: /is polite 1\/2 50\.0 %/ }).waitFor()
    await page.getByText('is polite failed').waitFor()
    await page.getByText('the answer does not say please').waitFor()
    expect(await accessibilityProblems(page, 'all')).toEqual([])
    await picture('evals-wide')

    const compare = page.getByRole('button', { name: 'Compare two runs' })
    expect(await compare.isDisabled()).toBe(true)
    for (const box of await page.getByRole('checkbox').all()) await box.check()
    await compare.click()

    await page.getByRole('table', { name: 'Results of both runs' }).getByText('Here you are, please.').waitFor()
    const links = page.getByRole('link', { name: /^run_/ })
    const shown = await links.evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''))
    expect(shown.some((href) => href.includes(rude)) || shown.some((href) => href.includes(polite))).toBe(true)
    expect(complaints).toEqual([])
  })

  it('show a new judgement without a reload', async () => {
    const { page, open } = await signedIn(world)
    await open('#/evals')
    const rows = page.getByRole('checkbox')
    await page.getByRole('table', { name: /Judged runs of support/ }).waitFor()
    const before = await rows.count()

    await ask('Once more, please')

    await expect.poll(() => rows.count()).toBe(before + 1)
  })

  it('keep a run as a case that casesFromFiles reads', async () => {
    const { runId } = await world.rest.agents.run('support', { input: { text: 'My money, please' } })
    const { items } = await world.rest.approvals.list({ status: 'pending', runId })
    await world.rest.approvals.resolve(items[0]?.id ?? '', { approved: true })
    await expect.poll(async () => (await world.rest.runs.get(runId)).status).toBe('completed')
    const { page, open, picture } = await signedIn(world)
    await open(`#/runs/${runId}`)

    await page.getByRole('button', { name: 'Keep as a case' }).click()
    const dialog = page.getByRole('dialog', { name: 'Keep as a case' })
    await dialog.getByLabel('Case (JSON)').waitFor()
    expect(await accessibilityProblems(page, 'all')).toEqual([])
    await picture('keep-case')
    const downloading = page.waitForEvent('download')
    await dialog.getByRole('button', { name: 'Download' }).click()
    const download = await downloading

    const file = await download.path()
    expect(download.suggestedFilename()).toBe(`${runId}.case.json`)
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      ...{ id: runId, input: { text: 'My money, please' }, decisions: { refund: true } },
      expected: 'Here you are, please.',
    })
    expect(await casesFromFiles(file)()).toMatchObject([{ id: runId, expected: 'Here you are, please.' }])
  })

  it('redact the case of a run, show its beginning, and audit every access', async () => {
    const secret = 'sk-proj-abcdefghijklmnop'
    const input = { text: `please write to ann@example.com with ${secret}`, list: Array.from({ length: 40 }, String) }
    const { runId } = await world.rest.agents.run('support', { input })
    const { token } = await world.rest.tokens.create({ name: 'reader', scopes: ['runs:read', 'agents:read'] })
    const reader = await signedIn(world, token)
    await reader.open(`#/runs/${runId}`)
    await reader.page.getByRole('button', { name: 'Keep as a case' }).click()
    await reader.page.getByText('Your token does not allow this').waitFor()

    const { page, open } = await signedIn(world)
    await open(`#/runs/${runId}`)
    await page.getByRole('button', { name: 'Keep as a case' }).click()
    const box = page.getByLabel('Case (JSON)')
    await page.getByText('Credentials and e-mail addresses are redacted.').waitFor()
    expect(await box.inputValue()).toContain('please write to [redacted:email] with [redacted:credential]')
    expect(await box.evaluate((one) => one.scrollTop)).toBe(0)
    await page.getByRole('button', { name: 'Show the original texts' }).click()
    await expect.poll(() => box.inputValue()).toContain(secret)

    const { items } = await world.rest.audit.list({ action: 'runs.case', limit: 3 })
    expect(items.map(({ decision, detail }) => [decision, detail])).toMatchObject([
      ['allowed', { raw: true }],
      ['allowed', { raw: false }],
      ['denied', {}],
    ])
  })

  it('compare two results files of perdure eval in the browser, and send them nowhere', async () => {
    const { page, open, picture, requests, complaints } = await signedIn(world, undefined, PHONE)
    await open('#/evals')
    await page.getByLabel('Results before (optional)').setInputFiles(resultsFile('main.ndjson', true))
    await page.getByLabel('Results', { exact: true }).setInputFiles(resultsFile('eval-results.ndjson', false))

    await page.getByText('Before: 2 of 2 trials passed').waitFor()
    await page.getByRole('row', { name: /on time 1\/1 0\/1 ↓ worse/ }).waitFor()
    await page.getByRole('button', { name: 'refunds › on time' }).click()
    const compared = page.getByRole('table', { name: 'Trials of both files' })
    await compared.getByText('There is no refund.').waitFor()
    await compared.getByText('You get your money back.').waitFor()
    expect(await accessibilityProblems(page, 'all')).toEqual([])
    await picture('evals-380')
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    await page.getByRole('table', { name: 'Cases' }).scrollIntoViewIfNeeded()
    await picture('evals-380-files')

    const wrong = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('hello') }
    await page.getByLabel('Results', { exact: true }).setInputFiles(wrong)
    await page.getByText('notes.txt: this is not a results file of perdure eval').waitFor()
    expect(requests.filter((url) => !url.includes('127.0.0.1'))).toEqual([])
    expect(complaints).toEqual([])
  })
})
