/**
 * Makes the pictures of docs/guides/console.md from a running console, in light and dark colours: `node --conditions=perdure-source
 * e2e/console-pictures.ts`. With CONSOLE_PICTURES=<folder>, also makes a picture of every page in light and dark colours,
 * and in a narrow window, for review.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ConsolePage, type ConsoleWorld, openConsoleWorld, signedIn } from './console-browser.ts'

const CONFIG = join(import.meta.dirname, 'fixtures/console-pictures.config.mjs')
const ROOT = join(import.meta.dirname, '..')
const GUIDE = join(import.meta.dirname, '../docs/guides/pictures')
const REVIEW = process.env.CONSOLE_PICTURES
const WIDTH = 1200

/** What the pictures show. */
interface Shop {
  readonly answered: string
  readonly failed: string
  readonly thread: string
  /** The session of a chat. */
  readonly chat: string
  /** A delivery that could not be handled. */
  readonly dead: string
}

/** Sends a message as the chat page of a customer does, and waits for the answer. */
async function say({ server, token }: ConsoleWorld, id: string, text: string): Promise<void> {
  const response = await fetch(`${server().url}/agents/support/chat`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ id, messages: [{ id: text, role: 'user', parts: [{ type: 'text', text }] }] }),
  })
  await response.text()
}

async function openShop(world: ConsoleWorld): Promise<Shop> {
  const { rest } = world
  const ask = (question: string, more: object = {}) =>
    rest.agents.run('support', { input: { question, language: 'en', priority: 3 }, sessionId: 'customer-7', ...more })
  await ask('Where is my parcel?')
  const { runId: answered } = await ask('When does it arrive?')
  const { runId: failed } = await rest.agents.run('mail', { input: { to: 'all' } })
  const refund = (order: string, amount: number, reason: string) =>
    rest.agents.run('refund', { input: { order, amount, reason } })
  const approved = await refund('A-1038', 24, 'arrived broken')
  const [first] = (await rest.approvals.list({ runId: approved.runId })).items
  await rest.approvals.resolve(first?.id ?? '', { approved: true, reason: 'photo received' })
  await refund('A-1041', 180, 'arrived late')
  const { threadId = '' } = await rest.workflows.execute('order', { input: {}, threadId: 'order-A-1042' })
  await rest.triggers.fire('newsletter')
  const issue = (body: object) => rest.hooks.test('github', { body, headers: { 'x-github-event': 'issues' } })
  await issue({ action: 'opened', issue: { number: 7, title: 'The parcel is late ' } })
  await issue({ action: 'labeled', label: 'slow' })
  const dead = await issue({ action: 'opened', repository: { full_name: 'shop/parcels' } })
  await rest.memory.createFact({
    text: 'Ann Miller prefers parcels to be left with her neighbour.',
    tags: ['customer-7'],
  })
  await rest.memory.createFact({ text: 'Orders above 150 € are sent with insurance.', tags: ['policy'] })
  for (const text of ['Can I still change the address?', 'How do I return an item?']) await say(world, text, text)
  await say(world, 'parcel', 'Where is my parcel A-1041?')
  const [chat] = (await rest.chats.list('support', { limit: 1 })).items
  await rest.tokens.create({ name: 'warehouse', scopes: ['workflows:read', 'events:emit'] })
  return { answered, failed, thread: threadId, chat: chat?.sessionId ?? '', dead: dead.id }
}

/** The picture of a page: its address, and what to do before the picture is taken. */
interface Picture {
  readonly name: string
  readonly address: string
  readonly height: number
  readonly prepare?: (page: ConsolePage['page']) => Promise<void>
}

const guidePictures = ({ answered, failed, thread, chat }: Shop): readonly Picture[] => [
  { name: 'home', address: '', height: 820 },
  {
    name: 'run',
    address: `runs/${answered}`,
    height: 760,
    prepare: (page) => page.locator('.span-row', { hasText: 'track_parcel' }).click(),
  },
  {
    name: 'failed-run',
    address: `runs/${failed}`,
    height: 620,
    async prepare(page) {
      await page.getByRole('button', { name: /^Show the stack/ }).click()
      await page.getByLabel('Stack of the error').waitFor()
      // The picture must not depend on the folder of this repository.
      await page.evaluate(`(() => {
        const text = document.querySelector('[aria-label="Stack of the error"] pre').firstChild
        text.data = text.data
          .replaceAll(${JSON.stringify(`file://${CONFIG}`)}, 'file:///srv/shop/perdure.config.mjs')
          .replaceAll(${JSON.stringify(`file://${ROOT}`)}, 'file:///srv/shop/node_modules/@perdure')
          .replaceAll('@perdure/packages', '@perdure')
      })()`)
    },
  },
  { name: 'approval', address: 'approvals', height: 560 },
  { name: 'workflow', address: `workflows/order/${thread}`, height: 700 },
  { name: 'calendar', address: 'triggers/newsletter', height: 760 },
  { name: 'start', address: 'start/agent/support', height: 620 },
  {
    name: 'chat',
    address: `chats/support/${chat}`,
    height: 780,
    prepare: (page) => page.locator('.turn summary', { hasText: 'track_parcel' }).click(),
  },
]

const everyPage = ({ answered, failed, thread, chat, dead }: Shop): readonly string[] => [
  ...['', 'runs', `runs/${answered}`, `runs/${failed}`, `runs/${answered}?tab=compare`, `runs/${answered}?tab=events`],
  ...['start/agent/support', 'approvals', 'live', 'sessions', 'sessions/customer-7', 'workflows'],
  ...[
    `workflows/order/${thread}`,
    'triggers',
    'triggers/stock-check',
    'audit',
    'tokens',
    'memory',
    'metrics',
    'system',
  ],
  ...['hooks', 'hooks/github', `hooks/github/${dead}`],
  ...['chats/support', `chats/support/${chat}`, 'chats/support/new', 'api', 'api?op=runs.list'],
]

/** WebP is a third of the size of PNG, and only the protocol of the browser can write it. */
async function save({ page, context }: ConsolePage, path: string): Promise<void> {
  const session = await context.newCDPSession(page)
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 82 })
  writeFileSync(path, Buffer.from(data, 'base64'))
  await session.detach()
}

/** The site shows the pictures of the colours that its reader has chosen. */
const SCHEMES = [
  { colorScheme: 'light', suffix: '' },
  { colorScheme: 'dark', suffix: '-dark' },
] as const

async function makeGuidePictures(
  opened: ConsolePage,
  shop: Shop,
  { colorScheme, suffix }: (typeof SCHEMES)[number],
): Promise<void> {
  mkdirSync(GUIDE, { recursive: true })
  const { page, open } = opened
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
  for (const { name, address, height, prepare } of guidePictures(shop)) {
    await page.setViewportSize({ width: WIDTH, height })
    await open(`#/${address}`)
    await page.waitForTimeout(700)
    await prepare?.(page)
    await page.waitForTimeout(300)
    await save(opened, join(GUIDE, `console-${name}${suffix}.webp`))
  }
}

async function makeReviewPictures({ page, open }: ConsolePage, shop: Shop, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  for (const [colorScheme, width] of [
    ['light', 1280],
    ['dark', 1280],
    ['light', 380],
  ] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.setViewportSize({ width, height: 900 })
    for (const address of everyPage(shop)) {
      await open(`#/${address}`)
      await page.waitForTimeout(700)
      const name = address
        .replace(shop.answered, 'answered')
        .replace(shop.failed, 'failed')
        .replace(shop.dead, 'dead')
        .replaceAll(/\W/g, '-')
      await page.screenshot({ path: join(folder, `${colorScheme}-${width}-${name || 'home'}.png`), fullPage: true })
    }
  }
}

const world = await openConsoleWorld({}, CONFIG)
try {
  const shop = await openShop(world)
  // The metrics are sampled every 15 seconds.
  if (REVIEW !== undefined) await new Promise((resolve) => setTimeout(resolve, 31_000))
  for (const scheme of SCHEMES) await makeGuidePictures(await signedIn(world), shop, scheme)
  if (REVIEW !== undefined) await makeReviewPictures(await signedIn(world), shop, REVIEW)
} finally {
  await world.close()
}
