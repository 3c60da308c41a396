import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import {
  buttonForm,
  messageEvent,
  type SlackMessage,
  signedBySlack,
  startSlack,
} from '../packages/chat-sdk/src/slack-mock.fixture.ts'
import { ledgerOf } from './durable-server.ts'
import { createSandbox, type RunningServer, startServer } from './perdure-process.ts'

const KILLS = Number(process.env.E2E_SLACK_KILLS ?? 4)
const THREADS_PER_KILL = 3
const SECRET = 'slack-signing-secret'
const CONFIG = join(import.meta.dirname, 'fixtures/slack.config.mjs')
const FORM = 'application/x-www-form-urlencoded'
const APPROVE = 'perdure-approve'

/** Text that a crash has cut in two is shown as two paragraphs. */
const textOf = ({ text }: SlackMessage): string => text.replaceAll(/\s+/g, ' ')

const isOpenCard = ({ blocks }: SlackMessage): boolean => JSON.stringify(blocks ?? '').includes(APPROVE)

it(`answers each thread of Slack once while the server is killed ${KILLS} times`, async () => {
  const slack = await startSlack()
  const sandbox = createSandbox({ SLACK_SIGNING_SECRET: SECRET, SLACK_API_URL: slack.apiUrl })
  let server: RunningServer | undefined
  let isOver = false
  onTestFinished(async () => {
    isOver = true
    await server?.kill('SIGKILL')
    await slack.close()
  })
  const restart = async () => {
    await server?.kill('SIGKILL')
    server = await startServer(sandbox, ['server', '--config', CONFIG])
  }

  const attempt = async (body: string, contentType?: string) => {
    const response = await fetch(`${server?.url}/hooks/slack`, signedBySlack(SECRET, body, contentType))
    await response.text()
    return response.status
  }
  /** Repeats the delivery until it is answered, as Slack does, and once more, as if the answer had been lost. */
  const deliver = async (body: string, contentType?: string) => {
    while (!isOver && (await attempt(body, contentType).catch(() => 503)) !== 200) await sleep(20)
    await attempt(body, contentType).catch(() => undefined)
  }
  const tsOf = (thread: number) => `1700000000.${String(thread).padStart(6, '0')}`
  const mention = (thread: number) =>
    messageEvent({ user: 'U1', ts: tsOf(thread), text: `<@UBOT> order-${thread}`, type: 'app_mention' })
  const threadOf = (thread: number) => slack.posted().filter(({ thread_ts }) => thread_ts === tsOf(thread))
  const pressed = new Set<string>()
  /** Presses the button of each card that shows one. Somebody who sees no change presses again later. */
  const pressAll = () => {
    for (const message of slack.posted().filter((one) => isOpenCard(one) && !pressed.has(one.ts))) {
      pressed.add(message.ts)
      deliveries.push(deliver(buttonForm({ user: 'U1', message, actionId: APPROVE }), FORM))
    }
  }

  await restart()
  const deliveries: Promise<void>[] = []
  for (let kill = 0; kill < KILLS; kill++) {
    for (let one = 0; one < THREADS_PER_KILL; one++) deliveries.push(deliver(mention(kill * THREADS_PER_KILL + one)))
    await sleep((kill * 173) % 500)
    pressAll()
    await sleep((kill * 97) % 200)
    await restart()
  }
  const threads = Array.from({ length: KILLS * THREADS_PER_KILL }, (_, thread) => thread)
  const isAnswered = (thread: number) =>
    threadOf(thread).some((message) => textOf(message) === `Refunded order-${thread}.`)
  await expect
    .poll(() => {
      pressAll()
      return threads.filter((thread) => !isAnswered(thread))
    })
    .toEqual([])
  await Promise.all(deliveries)
  await expect.poll(() => slack.posted().some(isOpenCard)).toBe(false)

  for (const thread of threads) {
    expect(threadOf(thread).map(textOf)).toEqual([
      `Looked at order-${thread}.`,
      expect.stringMatching(`Refund order-${thread}\\?[^]*Approved by <@U1>`),
      `Refunded order-${thread}.`,
    ])
  }
  expect([...new Set(ledgerOf(sandbox))].toSorted()).toEqual(threads.map((thread) => `order-${thread}`).toSorted())
})
