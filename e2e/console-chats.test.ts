import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { CONSOLE_CONFIG, type ConsoleWorld, openConsoleWorld, signedIn } from './console-browser.ts'
import { describeConsole, enter, enterWith, world } from './console-suite.ts'
import { createToken } from './perdure-process.ts'

/** Sends a message as the chat page of a user does, and waits until the answer rests or ends. */
async function say(chatId: string, text: string, { token = world.token, agentId = 'clerk', at = world } = {}) {
  const response = await fetch(`${at.server().url}/agents/${agentId}/chat?v=7`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({
      id: chatId,
      messages: [{ id: `${chatId} ${text}`, role: 'user', parts: [{ type: 'text', text }] }],
    }),
  })
  await response.text()
  expect(response.status).toBe(200)
  return { runId: response.headers.get('x-perdure-run-id') ?? '' }
}

const newest = (page: Page) => page.locator('.turn').last()
const write = (page: Page) => page.getByLabel('Message to clerk')

/** Begins a chat on the page. */
async function begin({ page, open }: { page: Page; open: (fragment: string) => Promise<void> }, text: string) {
  await open('#/chats/clerk/new')
  await write(page).fill(text)
  await page.keyboard.press('Enter')
  await page.locator('.turn').waitFor()
}

describeConsole('the page Chats of the console in Chromium', () => {
  it('lists the chats of an agent with what they wait for, the newest first, as they change', async () => {
    await say('listed-1', 'hello from a page')
    const { page, open } = await enter()
    await open('#/chats/clerk')
    const first = page.locator('.chat-list a').first()
    await first.getByText('hello from a page').first().waitFor()
    await first.getByText('assistant: You wrote: hello from a page.').waitFor()
    await first.getByText('unread').waitFor({ state: 'attached' })

    await say('listed-2', 'order paper')

    await first.getByText('order paper').first().waitFor()
    await first.getByText('waiting for approval').waitFor()
    expect(await page.locator('.chat-list a').count()).toBeGreaterThanOrEqual(2)
  })

  it('shows a conversation with its tools, their input and output, and what each turn has used', async () => {
    const { runId } = await say('read', 'order tea')
    const [asked] = (await world.rest.approvals.list({ runId })).items
    await world.rest.approvals.resolve(asked?.id ?? '', { approved: true, reason: 'in stock' })
    await expect.poll(async () => (await world.rest.runs.get(runId)).status).toBe('completed')
    await say('read', 'thanks')
    const { page, open } = await enter()
    await open('#/chats/clerk')
    await page.locator('.chat-list a', { hasText: 'order tea' }).click()

    const turn = page.locator('.turn').first()
    await turn.getByText('You wrote: order tea.').waitFor()
    await turn.getByText('This is order 17.').waitFor()
    await turn.locator('summary', { hasText: 'order' }).click()
    await turn.getByLabel('Arguments of order').getByText('"what": "order tea"').waitFor()
    await turn.getByLabel('Result of order').getByText('"number": 17').waitFor()
    await turn.getByText('1,200 + 34 tokens').waitFor()
    await turn.getByText('$0.0042').waitFor()
    await turn.getByText('1 tool call').waitFor()
    await newest(page).getByText('You wrote: thanks.').waitFor()
    await turn.getByRole('link', { name: 'Run', exact: true }).click()
    await page.locator('h1 .status', { hasText: 'completed' }).waitFor()
  })

  it('begins a chat and shows the answer as it is written, also one that another client asks for', async () => {
    const opened = await enter()
    const { page } = opened
    await begin(opened, 'count slowly')

    await newest(page).getByText(/ 3 4/).waitFor()
    expect(await newest(page).locator('[aria-busy=true]').count()).toBe(1)
    await page.getByRole('button', { name: 'Stop' }).click()
    await newest(page).getByText('Stopped: stopped in the console').waitFor()
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' })
    const { items } = await world.rest.chats.list('clerk', { limit: 1 })
    const { chatId = '', status, owner } = items[0] ?? {}
    expect({ status, owner }).toEqual({ status: 'idle', owner: 'ops' })

    await say(chatId, 'from the other page')

    await newest(page).getByText('You wrote: from the other page.').waitFor()
    expect(await page.locator('.turn').count()).toBe(2)
    await expect.poll(async () => (await world.rest.chats.get('clerk', chatId)).unread).toBe(false)
  })

  it('decides an approval where it was asked for', async () => {
    const opened = await enter()
    const { page } = opened
    await begin(opened, 'order ink')
    const card = newest(page).locator('.approval')
    await card.getByText('Place the order?').waitFor()
    await card.getByText('order ink').waitFor()
    await card.getByRole('button', { name: 'Approve' }).click()

    await newest(page).getByText('This is order 17.').waitFor()
    await card.waitFor({ state: 'detached' })
    await write(page).fill('order glue')
    await page.keyboard.press('Enter')
    await newest(page).locator('.approval').getByText('order glue').waitFor()
    await newest(page).getByLabel('Reason').fill('too sticky')
    await newest(page).getByRole('button', { name: 'Deny' }).click()
    await newest(page).getByText('Nothing is ordered.').waitFor()
    await newest(page).getByText('· denied').waitFor()
  })

  it('gives the result of a tool that the client performs', async () => {
    const opened = await enter()
    const { page } = opened
    await begin(opened, 'which color')
    await newest(page).getByLabel('Result of pickColor').fill('red')
    await newest(page).getByRole('button', { name: 'Send the result' }).click()

    await newest(page).getByText('You picked red.').waitFor()
  })

  it('steers the answer at work, and lets a message wait, which can be withdrawn', async () => {
    const opened = await enter()
    const { page } = opened
    await begin(opened, 'count slowly')
    await newest(page).getByText(/ 2 3/).waitFor()
    await page.getByLabel('While the agent works').selectOption('queue')
    await write(page).fill('and later')
    await page.keyboard.press('Enter')
    await page.locator('.turn').nth(1).getByText('waits for the agent').waitFor()
    await page.getByRole('button', { name: 'Withdraw' }).click()
    await page.locator('.turn').nth(1).waitFor({ state: 'detached' })

    await page.getByLabel('While the agent works').selectOption('steer')
    await write(page).fill('listen to me')
    await page.keyboard.press('Enter')

    const turn = page.locator('.turn').first()
    await turn.locator('.sent', { hasText: 'listen to me' }).waitFor()
    await turn.getByText('I have heard you.').waitFor()
    await expect.poll(() => page.locator('.turn').count()).toBe(1)
  })

  it('regenerates an answer in place of the earlier one', async () => {
    const opened = await enter()
    const { page } = opened
    await begin(opened, 'say it again')
    await newest(page).getByText('You wrote: say it again.').waitFor()
    const before = await newest(page).getByRole('link', { name: 'Run', exact: true }).getAttribute('href')
    await newest(page).getByRole('button', { name: 'Regenerate' }).click()

    await expect
      .poll(() => newest(page).getByRole('link', { name: 'Run', exact: true }).getAttribute('href'))
      .not.toBe(before)
    await newest(page).getByText('You wrote: say it again.').waitFor()
    expect(await page.locator('.turn').count()).toBe(1)
  })

  it('sends a file, and shows pictures of the own server only', async () => {
    const path = join(world.sandbox.dir, 'notes.txt')
    writeFileSync(path, 'remember the milk')
    const { page, open, requests } = await enter()
    await open('#/chats/clerk/new')
    await page.getByLabel('Files to attach').setInputFiles(path)
    await page.getByText('17 bytes').waitFor()
    await write(page).fill('draw this')
    await page.keyboard.press('Enter')

    await newest(page).getByText('I have received notes.txt (text/plain).').waitFor()
    await newest(page).getByRole('link', { name: 'notes.txt' }).waitFor()
    const picture = newest(page).getByRole('img', { name: 'dot.png' })
    await picture.waitFor()
    await expect.poll(() => page.evaluate<number>(`document.querySelector('.file img').naturalWidth`)).toBe(1)
    const own = new URL(world.url()).host
    expect(requests.filter((url) => new URL(url).host !== own)).toEqual([])

    const foreign = { type: 'file', mediaType: 'image/png', url: 'http://evil.example/a.png', name: 'a.png' }
    const svg = {
      type: 'file',
      mediaType: 'image/svg+xml',
      url: `data:image/svg+xml;base64,${btoa('<svg onload="alert(1)"/>')}`,
    }
    const input = { text: 'look', messages: [{ role: 'user', content: [foreign, svg] }] }
    const { runId } = await world.rest.agents.run('echo', { input })
    await open(`#/runs/${runId}?tab=messages`)
    await page.getByText('not loaded, because it is on another host: http://evil.example/a.png').waitFor()
    await page.getByText('image/svg+xml').first().waitFor()
    expect(await page.locator('main img').count()).toBe(0)
    expect(requests.filter((url) => new URL(url).host !== own)).toEqual([])
  })

  it('keeps a message that the server refuses', async () => {
    const { page, open } = await enter()
    await open('#/chats/clerk/new')
    await page.route('**/agents/clerk/chat?v=7', (route) =>
      route.fulfill({ status: 429, contentType: 'text/plain', body: 'too many runs (queue-full): try again later' }),
    )
    await write(page).fill('do not lose me')
    await page.keyboard.press('Enter')

    await page.getByRole('alert').getByText('too many runs').waitFor()
    await page.getByRole('alert').getByText('queue-full: try again later').waitFor()
    expect(await write(page).inputValue()).toBe('do not lose me')
  })

  it('shows hostile texts as text', async () => {
    const markup = '<img src=x onerror="document.title=1"><script>document.title=1</script>'
    await say('hostile', markup)
    const { page, open, complaints } = await enter()
    await open('#/chats/clerk')
    await page.locator('.chat-list a', { hasText: '<img src=x' }).first().click()
    await page.getByText(`You wrote: ${markup}.`).first().waitFor()

    expect(await page.evaluate(`document.querySelectorAll('main img, main script').length`)).toBe(0)
    expect(await page.title()).toMatch(/Chats · Perdure$/)
    expect(complaints).toEqual([])
  })

  it('reads the chat of another owner without marking it as read, and does not write into it', async () => {
    const token = await createToken(world.sandbox, 'agents:invoke', 'mia')
    await say('private', 'hello from mia', { token })
    const { page, open } = await enter()
    await open('#/chats/clerk')
    const entry = page.locator('.chat-list a', { hasText: 'hello from mia' })
    await entry.getByText('of mia').waitFor()
    await entry.click()
    await page.locator('.turn').getByText('You wrote: hello from mia.').waitFor()

    await page.getByText('Only the owner of a chat continues it.').waitFor()
    expect(await write(page).count()).toBe(0)
    // The owner's chat would be marked after a second in view.
    await page.waitForTimeout(1_500)
    const { items } = await world.rest.chats.list('clerk', { limit: 50 })
    expect(items.find(({ title }) => title === 'hello from mia')?.unread).toBe(true)
  })

  it('exists only for sessions that may list chats, and read agents and runs', async () => {
    const labels = async (scopes: string) => {
      const { page, open } = await enterWith(scopes)
      const names = await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allTextContents()
      await open('#/chats')
      return { hasPage: names.includes('Chats'), title: await page.locator('h1').textContent() }
    }

    expect(await labels('agents:invoke')).toEqual({ hasPage: false, title: '403' })
    expect(await labels('agents:read,runs:read')).toEqual({ hasPage: false, title: '403' })
    expect(await labels('agents:invoke,runs:read')).toEqual({ hasPage: false, title: '403' })
    expect(await labels('agents:invoke,agents:read,runs:read')).toEqual({ hasPage: true, title: 'Chats' })
  })

  it('fits a window of 380 pixels: the list, then the conversation with a way back', async () => {
    await say('narrow', `order ${'a-very-long-word-without-a-space-'.repeat(8)}`)
    const { page, open } = await enter()
    await page.setViewportSize({ width: 380, height: 800 })
    await open('#/chats/clerk')
    const width = () => page.evaluate<number>('document.documentElement.scrollWidth')
    await page.locator('.chat-list a').first().waitFor()
    expect(await width()).toBe(380)

    await page.locator('.chat-list a', { hasText: 'a-very-long-word' }).click()
    await page.locator('.approval').waitFor()
    expect(await width()).toBe(380)
    expect(await page.locator('.chat-list').isVisible()).toBe(false)
    await page.getByRole('link', { name: 'All chats with clerk' }).click()
    await page.locator('.chat-list').waitFor()
  })

  it('renames a chat, and deletes it after a question', async () => {
    const opened = await enter()
    const { page } = opened
    await begin(opened, 'to be renamed')
    await newest(page).getByText('You wrote').waitFor()
    await page.getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('dialog').getByLabel('Title').fill('A better title')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'A better title' }).waitFor()

    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the chat' }).click()
    await page.getByText('Choose a chat to read it.').waitFor()
    await page.locator('.chat-list a', { hasText: 'A better title' }).waitFor({ state: 'detached' })
  })
})

describeConsole('the page Chats of a read-only console', () => {
  let other: ConsoleWorld

  beforeAll(async () => {
    other = await openConsoleWorld({ PERDURE_CONSOLE_READ_ONLY: 'true' }, CONSOLE_CONFIG, world.browser)
  })

  afterAll(async () => {
    await other?.close()
  })

  it('shows conversations, and draws nothing that changes them', async () => {
    await say('read-only', 'order chalk', { token: other.token, at: other })
    const { page, open, requests } = await signedIn(other)
    await open('#/chats/clerk')
    await page.locator('.chat-list a', { hasText: 'order chalk' }).click()
    await newest(page).getByText('You wrote: order chalk.').waitFor()
    await page.getByText('The console is read-only').waitFor()
    await newest(page).getByText('may read approvals but not decide them').waitFor()

    const changes = /Send|Attach|Stop|Approve|Deny|Regenerate|Rename|Delete|Withdraw/
    expect(await page.locator('main').getByRole('button', { name: changes }).allTextContents()).toEqual([])
    expect(await page.getByRole('link', { name: 'New chat' }).count()).toBe(0)
    expect(requests.filter((url) => /resolve|abort|\/chat\?|\/files/.test(url))).toEqual([])
  })
})
