import { createInMemoryStorage } from '@perdure/in-memory'
import { tool } from 'ai'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { cutAfter } from './cut-storage.fixture.ts'
import { chatAgent } from './index.ts'
import { serverWith } from './server.fixture.ts'
import { type ScriptedCall, scriptedModel } from './testing.ts'

const HISTORIES = Number(process.env.HISTORIES ?? 60)

type Change = 'none' | 'edit' | 'withdraw'

/** A message that a user sends, perhaps while the agent works, and what the user does with it while it waits. */
interface Sent {
  readonly onBusy: 'queue' | 'steer'
  readonly change: Change
  /** How long the user waits before the message, in turns of the event loop. */
  readonly after: number
}

const sent = fc.record({
  onBusy: fc.constantFrom<Sent['onBusy']>('queue', 'steer'),
  change: fc.oneof(
    { weight: 4, arbitrary: fc.constant<Change>('none') },
    { weight: 1, arbitrary: fc.constantFrom<Change>('edit', 'withdraw') },
  ),
  after: fc.nat(30),
})

const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
}

const textsOf = ({ prompt }: ScriptedCall): readonly string[] =>
  prompt.flatMap(({ role, content }) =>
    role === 'user' ? [(content as { readonly text: string }[]).map(({ text }) => text).join()] : [],
  )

type Storage = ReturnType<typeof createInMemoryStorage>

/** A chat agent that answers each message after it has looked something up. */
async function openChat(storage: Storage, calls: ScriptedCall[]) {
  const look = tool({ inputSchema: z.object({}), execute: () => turns(5).then(() => 'red') })
  const model = scriptedModel(
    ({ toolResults }) => (toolResults.length > 0 ? 'Red.' : { toolName: 'look', input: {} }),
    {
      onCall: (call) => calls.push(call),
    },
  )
  const onBusy = ['queue', 'steer'] as const
  const world = await serverWith([chatAgent({ id: 'chat', model, tools: { look }, onBusy })], storage)

  const call = async (method: string, path: string, { key, body }: { key?: string; body?: object } = {}) => {
    const headers = { 'content-type': 'application/json', ...(key === undefined ? {} : { 'idempotency-key': key }) }
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    const response = await world.server.fetch(new Request(`http://localhost/v1${path}`, init))
    const text = await response.text()
    if (response.status >= 500 || response.status === 400) throw new Error(`${method} ${path}: ${text}`)
    return { status: response.status, body: text === '' ? {} : JSON.parse(text) }
  }
  return { call, stop: world.stop, get: world.get }
}

type Chat = Awaited<ReturnType<typeof openChat>>

/** Sends the message, and changes it while it waits. Resolves with the text that the conversation must have. */
async function deliver({ call }: Chat, { onBusy, change }: Sent, index: number): Promise<string | undefined> {
  const text = `m${index}`
  const start = await call('POST', '/agents/chat/stream', {
    key: `send-${index}`,
    body: { input: { text }, sessionId: 'ada', onBusy },
  })
  const { runId } = start.body
  if (change === 'edit') {
    const edit = { key: `edit-${index}`, body: { input: { text: `${text} edited` } } }
    return (await call('PATCH', `/runs/${runId}`, edit)).status === 200 ? `${text} edited` : text
  }
  if (change === 'none') return text
  return (await call('POST', `/runs/${runId}/withdraw`, { key: `withdraw-${index}` })).status === 200 ? undefined : text
}

async function deliverAll(chat: Chat, messages: readonly Sent[]): Promise<readonly (string | undefined)[]> {
  const delivered: Promise<string | undefined>[] = []
  for (const [index, message] of messages.entries()) {
    await turns(message.after)
    delivered.push(deliver(chat, message, index))
    // The order of the messages is that in which they were accepted.
    await Promise.race([delivered.at(-1), turns(20)])
  }
  return Promise.all(delivered)
}

async function untilEnded({ get }: Chat): Promise<void> {
  for (;;) {
    const { items } = await get<{ items: { status: string; id: string }[] }>('/runs?sessionId=ada&limit=200')
    const open = items.filter(({ status }) => status !== 'completed' && status !== 'aborted')
    expect(open.filter(({ status }) => status === 'failed')).toEqual([])
    if (open.length === 0) return
    await turns(5)
  }
}

async function judge(messages: readonly Sent[], cut: number): Promise<void> {
  const whole = createInMemoryStorage()
  const prelude = await openChat(whole, [])
  await prelude.call('POST', '/sessions', { body: { id: 'ada' } })
  await prelude.stop()

  const calls: ScriptedCall[] = []
  const dying = cutAfter(whole, cut)
  const first = await Promise.race([openChat(dying.storage, calls), dying.isCut])
  if (first !== undefined) {
    const sending = deliverAll(first, messages).then(() => untilEnded(first))
    await Promise.race([sending.catch(() => undefined), dying.isCut])
  }

  const chat = await openChat(whole, calls)
  const texts = await deliverAll(chat, messages)
  await untilEnded(chat)
  const expected = texts.filter((text) => text !== undefined)
  await chat.call('POST', '/agents/chat/stream', { body: { input: { text: 'last' }, sessionId: 'ada' } })
  await untilEnded(chat)
  await chat.stop()

  const last = textsOf(calls.at(-1) as ScriptedCall)
  expect([...last].sort()).toEqual([...expected, 'last'].sort())
  for (const text of expected) {
    expect(calls.some((call) => textsOf(call).includes(text))).toBe(true)
  }
  const shown = await pageTexts(whole)
  expect([...shown].sort()).toEqual([...expected, 'last'].sort())
}

/** The messages of users that a page shows. */
async function pageTexts(storage: Storage): Promise<readonly string[]> {
  const chat = await openChat(storage, [])
  const messages = await chat.get<readonly UiMessage[]>('/agents/chat/chat/ada/messages')
  await chat.stop()
  return messages.flatMap(({ role, parts }) => {
    const steering = parts.flatMap((part) => (part.type === 'steering-message' ? (part.parts ?? []) : []))
    return [...(role === 'user' ? parts : []), ...steering].map(({ text = '' }) => text)
  })
}

interface UiMessage {
  readonly role: string
  readonly parts: readonly {
    readonly type: string
    readonly text?: string
    readonly parts?: readonly { text: string }[]
  }[]
}

describe('messages that are sent while the agent works', () => {
  it('are each in the conversation exactly once, unless they were withdrawn, also after a crash', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(sent, { minLength: 1, maxLength: 6 }), fc.integer({ min: 1, max: 60 }), judge),
      { numRuns: HISTORIES, endOnFailure: false },
    )
  }, 580_000)
})
