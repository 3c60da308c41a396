import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { findTool, toolPath } from '../tooling/machine-tools.ts'
import { needsTool } from '../tooling/needed-tool.ts'
import { CHROMIUM_FLAGS } from './browser-page.ts'
import { guideBlocks } from './guide-blocks.ts'
import { copyExample, EXAMPLES } from './started-example.ts'
import type { StartedProcess } from './started-process.ts'
import { unusedPort } from './unused-port.ts'

/** The guides that show the files of the examples. */
const GUIDES = { 'chat-page': 'build-a-chat-page.md', 'ag-ui-page': 'build-an-ag-ui-page.md' }

let browser: Browser
beforeAll(async () => {
  if (findTool('chromium') === undefined) return
  const flags = [...CHROMIUM_FLAGS, '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1']
  browser = await chromium.launch({ executablePath: toolPath('chromium'), headless: true, args: flags })
})
afterAll(() => browser?.close())

const SAID = /await say\(ctx, `You wrote.*/
const ASKS_TWICE = `
if (text === 'both') {
  const deliver = { name: 'deliver', args: { what: 'cake' }, approval: { title: 'Deliver?' }, execute: () => 'sent' }
  await Promise.all([ctx.tool(deliver), ctx.clientTool({ name: 'pickColor', args: { of: ['red', 'blue'] } })])
  await say(ctx, 'Both are answered.')
}`

/** The copy of an example with both of its servers. Its agent also asks two questions at once. */
async function startChat(name: string) {
  const { cwd, script } = copyExample(name)
  const config = join(cwd, 'perdure.config.ts')
  writeFileSync(
    config,
    readFileSync(config, 'utf8').replace(SAID, (said) => said + ASKS_TWICE),
  )
  const env = { PERDURE_SERVER_PORT: String(await unusedPort()) }
  const serve = () => script('start', /API\s+http:\S+/, { env })
  let server = await serve()
  const session = () => JSON.parse(readFileSync(join(cwd, '.graphorin/dev-session.json'), 'utf8'))
  const api = `http://127.0.0.1:${env.PERDURE_SERVER_PORT}`
  const args = `--host 127.0.0.1 --port ${await unusedPort()} --strictPort`
  const pages = await script('page', /(http:\S+)\//, { args, env: { TOKEN: session().token, API: api, NO_COLOR: '1' } })
  const stop = (one: StartedProcess) => one.stop('SIGKILL')
  return {
    origin: pages.match[1] ?? '',
    api: `${api}/v1`,
    headers: { authorization: `Bearer ${session().token}` },
    /** Kills the server in the middle of whatever it does, and starts it again. */
    async kill() {
      process.kill(session().pid, 'SIGKILL')
      await stop(server)
      server = await serve()
    },
    close: () => Promise.all([server, pages].map(stop)),
  }
}

const WORDS = 'one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen'
const READS = `You wrote: ${WORDS}.`

const textOf = (page: Page) => page.locator('body').innerText()
const statusOf = (page: Page) => page.locator('[role=status]').innerText()
const count = (text: string, part: string) => text.split(part).length - 1

async function send(page: Page, text: string): Promise<void> {
  await expect.poll(() => statusOf(page)).toBe('ready')
  await page.fill('[name=text]', text)
  await page.click('form button')
}

const isTold = (page: Page, text: string) => expect.poll(() => textOf(page)).toContain(text)

async function hasEnded(page: Page): Promise<string> {
  await expect.poll(() => statusOf(page)).toBe('ready')
  return textOf(page)
}

for (const name of Object.keys(GUIDES)) needsTool('chromium').describe(`the page of ${name}`, () => testPage(name))

function testPage(name: string): void {
  let chat: Awaited<ReturnType<typeof startChat>>
  const requests: string[] = []
  const complaints: string[] = []

  const open = async () => {
    const page = await (await browser.newContext()).newPage()
    page.on('request', (request) => requests.push(request.url()))
    page.on('pageerror', (error) => complaints.push(error.message))
    await page.goto(chat.origin)
    return page
  }

  beforeAll(async () => {
    chat = await startChat(name)
  })
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close()
  })
  afterAll(async () => {
    await chat?.close()
    expect(complaints).toEqual([])
    expect(requests.filter((url) => !url.startsWith(chat.origin) && !url.startsWith('data:'))).toEqual([])
  })

  it('shows an answer while it comes, and continues with it after a reload', async () => {
    const page = await open()
    await send(page, WORDS)
    await isTold(page, 'You wrote: one two')
    expect(await textOf(page)).not.toContain(READS)
    await page.reload()

    await isTold(page, READS)
    const text = await hasEnded(page)
    expect([count(text, WORDS), count(text, 'You wrote')]).toEqual([2, 1])
  })

  it('asks for an approval, also after a reload, and shows what the tool did', async () => {
    const page = await open()
    await send(page, 'order paper')
    await page.getByText('Approve').waitFor()
    await page.reload()
    await isTold(page, 'Place the order?')
    await page.getByText('Approve').click()

    await isTold(page, 'This is order 17.')
    const text = await hasEnded(page)
    expect(text).toContain('"number":17')
    expect([count(text, 'Approve'), count(text, 'You wrote')]).toEqual([0, 1])
    await send(page, 'order glue')
    await page.getByText('Deny').click()
    await isTold(page, 'Nothing is ordered.')
  })

  it('lets the user perform a tool of the page', async () => {
    const page = await open()
    await send(page, 'a color')
    await page.getByText('blue', { exact: true }).click()

    await isTold(page, 'You picked blue.')
    await hasEnded(page)
    await page.reload()
    await isTold(page, 'You picked blue.')
  })

  it('asks one question after another, and takes no message in between', async () => {
    const page = await open()
    const canSend = () => page.locator('form button').isEnabled()
    await send(page, 'a color and an order')
    await page.getByText('blue', { exact: true }).waitFor()
    await hasEnded(page)
    expect(await canSend()).toBe(false)
    await page.getByText('blue', { exact: true }).click()
    await page.getByText('Approve').waitFor()
    await hasEnded(page)
    expect(await canSend()).toBe(false)
    await page.getByText('Approve').click()
    await isTold(page, 'This is order 17.')

    const text = await hasEnded(page)
    const told = ['You wrote', 'You picked blue', '"number":17', 'This is order 17', 'tool blue'].map((part) =>
      count(text, part),
    )
    expect(told).toEqual([1, 1, 1, 1, name === 'chat-page' ? 0 : 1])
    await expect.poll(canSend).toBe(true)
  })

  it.each([
    ['blue', 'Approve'],
    ['Approve', 'blue'],
  ])('takes the answers to two questions that are open at once, %s first', async (...answers) => {
    const page = await open()
    await send(page, 'both')
    for (const answer of answers) await page.getByText(answer, { exact: true }).click()
    await isTold(page, 'Both are answered.')

    const text = await hasEnded(page)
    const told = ['You wrote', 'Both are answered', 'deliver', 'pickColor'].map((part) => count(text, part))
    expect(told).toEqual([1, 1, 1, 1])
  })

  it('shows why the server refuses to continue the chat, for example without a valid token', async () => {
    const page = await open()
    await send(page, WORDS)
    await isTold(page, READS)
    await page.route('**/v1/agents/clerk/**', (route) => route.fulfill({ status: 401, body: 'no valid token' }))
    await page.reload()

    await expect.poll(() => statusOf(page)).toContain('no valid token')
  })

  it('shows the error of a failed answer, and takes another message', async () => {
    const page = await open()
    const failed = [
      { type: 'RUN_STARTED', threadId: 't', runId: 'r' },
      { type: 'RUN_ERROR', message: 'no paper' },
    ]
    const body = failed.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
    const isChat = name === 'chat-page'
    const response = isChat ? { status: 400, body: 'no paper' } : { contentType: 'text/event-stream', body }
    await page.route(/\/clerk\/(chat|ag-ui)(\?|$)/, (route) => route.fulfill(response))
    await page.fill('[name=text]', 'order paper')
    await page.click('form button')
    await expect.poll(() => statusOf(page)).toBe('no paper')

    await page.unroute(/\/clerk\/(chat|ag-ui)(\?|$)/)
    await page.fill('[name=text]', WORDS)
    await page.click('form button', { timeout: 5_000 })
    await isTold(page, READS)
  })

  it('shows an answer once when the server is killed in the middle of it', async () => {
    const page = await open()
    await send(page, WORDS)
    await isTold(page, 'You wrote: one two')
    await chat.kill()
    expect(await textOf(page)).not.toContain(READS)

    await isTold(page, READS)
    const text = await hasEnded(page)
    expect([count(text, WORDS), count(text, 'You wrote')]).toEqual([2, 1])
    const runs = await fetch(`${chat.api}/runs?limit=1`, { headers: chat.headers })
    expect(await runs.json()).toMatchObject({ items: [{ status: 'completed', attempt: 2 }] })
  })

  it('shows the same chat in two tabs', async () => {
    const first = await open()
    await send(first, WORDS)
    await isTold(first, 'You wrote: one two')
    const second = await first.context().newPage()
    await second.goto(chat.origin)

    for (const page of [first, second]) await isTold(page, READS)
    const texts = [await hasEnded(first), await hasEnded(second)]
    expect(texts.map((text) => [count(text, WORDS), count(text, 'You wrote')])).toEqual([
      [2, 1],
      [2, 1],
    ])
    await send(second, 'order glue')
    await second.getByText('Approve').waitFor()
    await first.reload()
    await first.getByText('Approve').click()
    await isTold(first, 'This is order 17.')
  })
}

describe('a guide', () => {
  it.each(Object.entries(GUIDES))('shows the files of the example %s: %s', (name, guide) => {
    const markdown = readFileSync(join(EXAMPLES, '../docs/guides', guide), 'utf8')
    const shown = guideBlocks(markdown).filter(({ file }) => file !== undefined)

    expect(shown.map(({ file }) => file)).toContain(name === 'chat-page' ? 'page.tsx' : 'page.ts')
    for (const { file = '', text } of shown) expect(text, file).toBe(readFileSync(join(EXAMPLES, name, file), 'utf8'))
  })
})
