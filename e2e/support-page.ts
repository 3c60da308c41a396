import type { Page } from 'playwright-core'
import { expect } from 'vitest'

/** The page moves while an answer grows. */
const MOVING = { force: true }

/** Messages while the agent works, and changes of what was said, in the chat of the support page. */
export async function conversesInThePage(page: Page): Promise<void> {
  const articles = (kind: string) => page.locator(`article.${kind}`)
  const statusIs = (status: string) => expect.poll(() => page.textContent('[role=status]')).toBe(status)
  const send = async (text: string) => {
    await page.fill('[name=text]', text)
    await page.click('form button[type=submit]')
  }
  await page.getByText('New chat').click()
  await expect.poll(() => articles('user').count()).toBe(0)
  await statusIs('ready')
  await send('hello')
  await statusIs('streaming')
  await send('refund A-99')
  await expect.poll(() => articles('queued').count()).toBe(1)
  page.once('dialog', (dialog) => void dialog.accept('refund A-18'))
  await articles('queued').getByText('Edit').click(MOVING)
  await expect
    .poll(() =>
      articles('queued')
        .first()
        .innerText()
        .catch(() => ''),
    )
    .toContain('A-18')
  await expect.poll(() => page.textContent('main')).toContain('Order A-18')
  await send('refund A-5')
  await expect.poll(() => articles('queued').count()).toBe(1)
  await articles('queued').getByText('Withdraw').click(MOVING)
  await expect.poll(() => articles('queued').count()).toBe(0)
  await expect.poll(() => page.textContent('main')).toContain('Please attach a photo of it.')
  await statusIs('ready')
  const said = await page.textContent('main')
  expect([said?.includes('A-99'), said?.includes('A-5')]).toEqual([false, false])
  expect(await articles('user').count()).toBe(2)

  await articles('user').last().getByText('Edit').click()
  await send('refund A-20')
  await expect.poll(() => page.textContent('main')).toContain('Order A-20 is a red scarf. Please attach a photo of it.')
  await statusIs('ready')
  expect(await page.textContent('main')).not.toContain('A-18')
  await page.getByText('Answer again').click()
  await statusIs('streaming')
  await page.getByText('Stop').click(MOVING)
  await statusIs('ready')
  expect(await articles('user').count()).toBe(2)

  await send('look it up slowly')
  await statusIs('streaming')
  await page.selectOption('[name=onBusy]', 'steer')
  await send('refund A-21')
  await page.locator('article.assistant p.user', { hasText: 'refund A-21' }).waitFor()
  await expect.poll(() => page.textContent('main')).toContain('Order A-21 is a red scarf. Please attach a photo of it.')
  await statusIs('ready')
  expect(await articles('user').count()).toBe(3)
}

/** The list of chats of the support page, which has two chats. */
export async function managesChats(page: Page): Promise<void> {
  const rows = page.locator('nav > div')
  await expect.poll(() => rows.count()).toBe(2)
  page.once('dialog', (dialog) => void dialog.accept('My scarf'))
  await rows.first().getByTitle('rename').click()
  await page.getByText('My scarf').waitFor()
  await rows.first().getByTitle('copy').click()
  await expect.poll(() => rows.count()).toBe(3)
  await expect.poll(() => page.locator('article.user').count()).toBe(3)
  await page.screenshot({ path: process.env.E2E_PICTURE ?? '' }).catch(() => undefined)
  await rows.first().getByTitle('delete').click()
  await expect.poll(() => rows.count()).toBe(2)
}

/** The list of chats of the support page, while an answer comes in a chat that is not open. */
export async function tellsWhatIsUnread(page: Page): Promise<void> {
  const unread = page.locator('nav button.unread')
  await page.getByRole('button', { name: 'New chat', exact: true }).click()
  await expect.poll(() => page.locator('article.user').count()).toBe(0)
  await expect.poll(() => page.textContent('[role=status]')).toBe('ready')
  await page.fill('[name=text]', 'is anybody there')
  await page.click('form button[type=submit]')
  await expect.poll(() => page.textContent('[role=status]')).toBe('streaming')
  await page.locator('nav > div').nth(1).getByRole('button').first().click()

  await unread.getByText('is anybody there').waitFor()
  await unread.click()
  await page.getByText('Which order is it?').waitFor()
  await expect.poll(() => unread.count()).toBe(0)
}
