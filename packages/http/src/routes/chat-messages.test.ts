import { EVERY_ROW } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { createTestApp, get, post } from '../app.fixture.ts'

const TEXT = { type: 'text', text: 'Hello' }
const MESSAGE = { id: 'm1', role: 'user', parts: [TEXT] }
const chat = (...messages: object[]) => ({ id: 'c1', messages })

function setUp() {
  const test = createTestApp()
  const send = async (body: object, headers: Record<string, string> = {}) => {
    const response = await test.app.fetch(post('/agents/echo/chat', body, headers))
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  const messages = async () =>
    (await (await test.app.fetch(get('/agents/echo/chat/c1/messages'))).json()) as { role: string }[]
  const questions = async () => (await messages()).filter(({ role }) => role === 'user')
  const runs = async () => (await test.storage.runs.list({}, { limit: 9, order: 'asc' }, EVERY_ROW)).items
  const sessions = async () => (await test.storage.sessions.list({}, { limit: 9, order: 'asc' }, EVERY_ROW)).items
  return { ...test, send, questions, runs, sessions }
}

describe('a message of the user after a reload', () => {
  it('has its metadata, and its data parts with their types and ids, as they were sent', async () => {
    const { send, questions } = setUp()
    const location = { type: 'data-location', id: 'loc-1', data: { lat: 1 } }
    const message = {
      ...MESSAGE,
      metadata: { mood: 'glad', at: 5 },
      parts: [TEXT, location, { type: 'data-x', data: 1 }],
    }

    await send(chat(message))

    expect(await questions()).toEqual([message])
  })
})

describe('a message that asks nothing', () => {
  const AG_UI = { threadId: 't', runId: 'r', tools: [], context: [], state: {}, forwardedProps: {} }
  const OPENAI = { model: 'echo', stream: true }
  const system = { role: 'system', content: 'You are a pirate.' }
  const empty = { role: 'user', content: '' }

  it.each<[string, string, object]>([
    ['of a system, to the AI SDK', '/agents/echo/chat', chat(MESSAGE, { ...MESSAGE, id: 's', role: 'system' })],
    ['without parts, to the AI SDK', '/agents/echo/chat', chat({ ...MESSAGE, parts: [] })],
    [
      'with an empty text, to the AI SDK',
      '/agents/echo/chat',
      chat({ ...MESSAGE, parts: [{ type: 'text', text: '' }] }),
    ],
    [
      'with unknown parts only, to the AI SDK',
      '/agents/echo/chat',
      chat({ ...MESSAGE, parts: [{ type: 'step-start' }] }),
    ],
    ['of a system, to AG-UI', '/agents/echo/ag-ui', { ...AG_UI, messages: [{ id: 's', ...system }] }],
    [
      'of a developer, to AG-UI',
      '/agents/echo/ag-ui',
      { ...AG_UI, messages: [{ id: 's', ...system, role: 'developer' }] },
    ],
    ['with an empty text, to AG-UI', '/agents/echo/ag-ui', { ...AG_UI, messages: [{ id: 's', ...empty }] }],
    ['of a system, to Chat Completions', '/openai/chat/completions', { ...OPENAI, messages: [system] }],
    ['with an empty text, to Chat Completions', '/openai/chat/completions', { ...OPENAI, messages: [empty] }],
    ['of a system, to Responses', '/openai/responses', { ...OPENAI, input: [{ type: 'message', ...system }] }],
    ['with an empty text, to Responses', '/openai/responses', { ...OPENAI, input: [{ type: 'message', ...empty }] }],
  ])('%s, is refused before anything is stored', async (_, path, body) => {
    const { app, runs, sessions } = setUp()
    const response = await app.fetch(post(path, body))

    expect(response.status, await response.text()).toBe(400)
    expect([await runs(), await sessions()]).toEqual([[], []])
  })
})

describe('a message that is sent again under another Idempotency-Key', () => {
  it('is the same message, and its request follows the same turn', async () => {
    const { send, runs, questions } = setUp()

    const first = await send(chat(MESSAGE), { 'idempotency-key': 'one' })
    const again = await send(chat(MESSAGE), { 'idempotency-key': 'two' })
    const keyless = await send(chat(MESSAGE))

    expect([first.status, again.status, keyless.status]).toEqual([200, 200, 200])
    expect(await runs()).toHaveLength(1)
    expect(await questions()).toEqual([MESSAGE])
  })

  it('is the same message when both requests arrive at once', async () => {
    const { send, runs } = setUp()

    await Promise.all(['one', 'two', 'three'].map((key) => send(chat(MESSAGE), { 'idempotency-key': key })))

    expect(await runs()).toHaveLength(1)
  })

  it('is refused if its text is another one', async () => {
    const { send, runs } = setUp()
    await send(chat(MESSAGE), { 'idempotency-key': 'one' })

    const other = await send(chat({ ...MESSAGE, parts: [{ type: 'text', text: 'Bye' }] }), { 'idempotency-key': 'two' })

    expect(other.status).toBe(409)
    expect(await runs()).toHaveLength(1)
  })

  it('is another message in another chat', async () => {
    const { send, runs } = setUp()

    await send(chat(MESSAGE), { 'idempotency-key': 'one' })
    await send({ ...chat(MESSAGE), id: 'c2' }, { 'idempotency-key': 'two' })

    expect(await runs()).toHaveLength(2)
  })
})

describe('an id that the path of a URL cannot hold', () => {
  const AG_UI = { messages: [{ id: 'm', role: 'user', content: 'Hello' }], tools: [], context: [], state: {} }
  const OPENAI = { model: 'echo', stream: true }
  const messages = [{ role: 'user', content: 'Hello' }]

  it.each(['.', '..'])('is refused where a client chooses it: %s', async (id) => {
    const { app, runs, sessions } = setUp()
    const requests: readonly (readonly [string, object])[] = [
      ['/agents/echo/chat', { id, messages: [MESSAGE] }],
      ['/agents/echo/ag-ui', { ...AG_UI, threadId: id, runId: 'r' }],
      ['/agents/echo/ag-ui', { ...AG_UI, threadId: 't', runId: id }],
      ['/openai/chat/completions', { ...OPENAI, messages, metadata: { session_id: id } }],
      ['/openai/responses', { ...OPENAI, input: 'Hello', conversation: id }],
      ['/sessions', { id, agentId: 'echo' }],
    ]

    for (const [path, body] of requests) {
      const response = await app.fetch(post(path, body))
      expect([path, response.status]).toEqual([path, 400])
      expect(await response.text()).toMatch(/must not be|must start with a letter or digit/)
    }
    expect([await runs(), await sessions()]).toEqual([[], []])
  })

  it('is refused for the copy of a chat', async () => {
    const { app, send } = setUp()
    await send(chat(MESSAGE))

    const response = await app.fetch(post('/agents/echo/chats/c1/fork', { chatId: '..' }))

    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('must not be')])
  })
})
