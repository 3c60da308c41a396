import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished } from 'vitest'
import { createClient } from '../packages/client/src/index.ts'
import type { ToolName } from '../tooling/machine-tools.ts'
import { needsTool } from '../tooling/needed-tool.ts'
import { launchChromium } from './browser-page.ts'
import { nextChat } from './next-chat.ts'
import { copyExample, EXAMPLES, startExample as start } from './started-example.ts'
import { conversesInThePage, managesChats, tellsWhatIsUnread } from './support-page.ts'

/** `chat-pages.test.ts` checks them. */
const CHAT_PAGES = ['chat-page', 'ag-ui-page']

const names = readdirSync(EXAMPLES, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !CHAT_PAGES.includes(entry.name))
  .map(({ name }) => name)

const DEV = /API\s+http:\S+/

/** Checks an app that serves the API below /ai, and starts runs for its signed-in users. */
async function mounted(name: string): Promise<void> {
  const { server } = await start(name, /listening on (http:\S+)/)
  const [, origin = ''] = server.match
  const headers = { cookie: 'session=ann', 'content-type': 'application/json' }
  const response = await fetch(`${origin}/stories`, { method: 'POST', headers, body: '{"topic":"time"}' })
  const { subject, ticket } = (await response.json()) as Readonly<Record<string, string>>
  const client = createClient({ baseUrl: `${origin}/ai/v1`, tickets: () => ticket ?? '' })
  onTestFinished(client.close)

  const words: unknown[] = []
  for await (const item of client.subscribe(subject ?? '', { transport: 'websocket' })) {
    if (item.type === 'event' && item.event.type === 'story.word') words.push(item.event.payload)
  }

  expect(words).toEqual(['Once', 'upon', 'a', 'time'].map((word) => ({ word })))
  expect((await fetch(`${origin}/ai/v1/agents`)).status).toBe(401)
}

const SAYS_MORE = `return [
  ...(call.text.includes('slowly') ? [{ text: 'wait '.repeat(20) }] : []),
  { toolName: 'lookUpOrder', input: { orderId } },
]`

/** Runs the tests that the example has for its readers. */
const passesItsTests = (cwd: string) => promisify(execFile)(process.execPath, ['--test'], { cwd })

/** Starts both servers of a chat example, and opens its page. */
async function openChat(name: string) {
  const { cwd, script } = copyExample(name)
  const model = join(cwd, 'model.ts')
  // Slow enough to send messages while the agent answers, and before it looks up an order.
  const source = readFileSync(model, 'utf8').replace('wordDelayMs: 40', 'wordDelayMs: 300')
  writeFileSync(model, source.replace("return { toolName: 'lookUpOrder', input: { orderId } }", SAYS_MORE))
  const server = await script('start', /API\s+(http:\S+)/)
  onTestFinished(async () => void (await server.stop()))
  const { token } = JSON.parse(readFileSync(join(cwd, '.graphorin/dev-session.json'), 'utf8'))
  const env = { TOKEN: token, API: new URL(server.match[1] ?? '').origin, NO_COLOR: '1' }
  const pages = await script('page', /(http:\S+)\//, { args: '--host 127.0.0.1 --port 0', env })
  onTestFinished(async () => void (await pages.stop('SIGKILL')))
  const browser = await launchChromium()
  onTestFinished(() => browser.close())
  const page = await browser.newPage()
  await page.goto(pages.match[1] ?? '')
  return { cwd, page }
}

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
)

const CHECKS: Readonly<Record<string, () => Promise<void>>> = {
  async 'hello-agent'() {
    const { perdure } = await start('hello-agent', DEV)

    const run = await perdure('agents', 'run', 'hello', '--input', '{"name":"Ann"}')

    expect(run).toMatchObject({ status: 'completed', result: { greeting: `Hello Ann, this is run ${run.runId}.` } })
    expect(await perdure('runs', 'list')).toMatchObject({ items: [{ id: run.runId, agentId: 'hello' }] })
  },

  async 'ai-sdk-agent'() {
    const { perdure } = await start('ai-sdk-agent', DEV)

    const run = await perdure('agents', 'run', 'weather', '--input', '{"question":"How cold is it in Oslo?"}')

    expect(run).toMatchObject({ status: 'completed', result: { text: 'In Oslo it is 4 degrees.' } })
    expect(run.usage).toMatchObject({ toolCalls: 1, outputTokens: 7 })
    const shown = JSON.stringify(await perdure('runs', 'export', String(run.runId)))
    expect(shown).toContain('tool.execute.end')
    expect(shown).toContain('text.delta')
  },

  async approvals() {
    const { perdure } = await start('approvals', DEV)
    const input = JSON.stringify({ order: 'A-17', amount: 400 })

    const run = await perdure('workflows', 'run', 'refund', '--input', input)
    const pending = async () => (await perdure('approvals', 'list')).items as readonly { readonly id: string }[]
    await expect.poll(pending).toHaveLength(1)
    const [{ id = '' } = {}] = await pending()
    await perdure('approvals', 'approve', id, '--reason', 'as promised')

    const result = { order: 'A-17', paid: 400, payment: expect.any(String) }
    await expect.poll(() => perdure('runs', 'show', String(run.runId))).toMatchObject({ status: 'completed', result })
  },

  async 'cron-digest'() {
    const { perdure } = await start('cron-digest', DEV)
    for (const note of ['no paper', 'the door squeaks']) {
      await perdure('agents', 'run', 'note', '--session', 'inbox', '--input', JSON.stringify({ note }))
    }

    const next = await perdure('triggers', 'next', 'morning', '--count', '3')
    const { runId } = await perdure('triggers', 'fire', 'morning')

    expect(JSON.stringify(next)).toMatch(/T0[67]:00:00/)
    await expect
      .poll(() => perdure('runs', 'show', String(runId)))
      .toMatchObject({ status: 'completed', result: { digest: '2 notes: no paper; the door squeaks' } })
  },

  async 'support-chat'() {
    const { cwd, page } = await openChat('support-chat')
    const shows = (text: string) => page.getByText(text).first().waitFor()
    const isReady = () => expect.poll(() => page.textContent('[role=status]')).toBe('ready')
    await isReady()
    await page.click('form button')
    await shows('Please attach a photo of it.')
    await isReady()
    await page.fill('[name=text]', 'here it is')
    await page.setInputFiles('[name=photo]', { name: 'scarf.png', mimeType: 'image/png', buffer: PNG })
    await page.click('form button')
    await shows('I can see the damage.')
    await shows('Waiting for a colleague, who decides about the refund of 80 for A-17.')
    expect(await page.getByRole('button', { name: 'Yes' }).count()).toBe(0)
    await page.reload()
    const staff = await page.context().newPage()
    await staff.goto(`${new URL(page.url()).origin}/?staff`)
    await staff.getByText('Approve').click()

    await shows('You get 80 back.')
    await isReady()
    expect(await page.locator('img').getAttribute('alt')).toBe('scarf.png')
    expect(await page.locator('article').count()).toBe(4)
    await conversesInThePage(page)
    await managesChats(page)
    await tellsWhatIsUnread(page)
    await passesItsTests(cwd)
  },

  async research() {
    const { cwd, perdure } = await start('research', DEV)

    const run = await perdure('agents', 'run', 'research', '--input', '{"topic":"tea"}')

    const text = expect.stringMatching(/^- Tea comes from .* \(Leaves\)\n- Green tea .* \(Kettles\)$/)
    expect(run).toMatchObject({ status: 'completed', result: { text } })
    const { items } = await perdure('runs', 'list')
    const children = (items as readonly { readonly agentId: string }[]).filter(({ agentId }) => agentId === 'answer')
    expect(children).toMatchObject(Array(2).fill({ parentRunId: run.runId, status: 'completed' }))
    await passesItsTests(cwd)
  },

  async 'support-evals'() {
    const { cwd } = copyExample('support-evals')
    const evaluate = (...args: readonly string[]) =>
      promisify(execFile)(join(EXAMPLES, 'support-evals/node_modules/.bin/perdure'), ['eval', '--json', ...args], {
        ...{ cwd, env: { ...process.env, PROMPT: args.includes('--against') ? 'wrong' : 'right' } },
      })

    const right = JSON.parse((await evaluate()).stdout)
    expect(right).toMatchObject({ ok: true, planned: 21, made: 21 })

    const wrong = await evaluate('--against', 'eval-results.ndjson').catch((error) => error)
    expect(wrong.code).toBe(5)
    const [, refunds] = JSON.parse(wrong.stdout).evals
    expect(refunds).toMatchObject({ name: 'refunds', ok: false, passed: 14, trials: 20 })
    expect(JSON.parse(wrong.stdout).compared[0]).toMatchObject({ name: 'refunds', verdict: 'worse' })
  },

  'next-chat': nextChat,
  hono: () => mounted('hono'),
  express: () => mounted('express'),
  fastify: () => mounted('fastify'),

  async 'browser-client'() {
    const { server } = await start('browser-client', /open (http:\S+)/)
    const browser = await launchChromium()
    onTestFinished(() => browser.close())
    const page = await browser.newPage()
    await page.goto(server.match[1] ?? '')

    await page.click('button')

    await expect.poll(() => page.textContent('#state')).toBe('run.completed')
    expect(await page.textContent('output')).toBe('Every word arrives exactly once')
  },
}

const NEEDED: Readonly<Record<string, readonly ToolName[]>> = {
  'browser-client': ['chromium'],
  'support-chat': ['chromium'],
}

describe('an example project', () => {
  for (const name of names) {
    needsTool(...(NEEDED[name] ?? [])).it(`behaves as its README describes: ${name}`, async () => {
      await CHECKS[name]?.()
      expect(CHECKS).toHaveProperty(name)
    })
  }
})
