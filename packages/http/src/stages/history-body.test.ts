import { EVERY_ROW } from '@perdure/ports'
import { OPERATION_TABLES, type Operation, PROTOCOLS } from '@perdure/protocol'
import { describe, expect, it } from 'vitest'
import { createTestApp, post } from '../app.fixture.ts'

const ALL: readonly Operation[] = [
  ...Object.values(OPERATION_TABLES),
  ...Object.values(PROTOCOLS).map(({ operations }) => operations),
].flatMap((table) => Object.values<Operation>(table))
const WITH_HISTORY = ALL.filter(({ sendsHistory }) => sendsHistory === true)

const row = Object.fromEntries(Array.from({ length: 12 }, (_, column) => [`column${column}`, column]))
const TABLES = Array.from({ length: 20 }, (_, turn) => ({
  id: `a${turn}`,
  rows: Array.from({ length: 100 }, () => row),
}))

/** A chat whose answers show 20 tables, and a new message, in the form of each operation. */
const CHATS: Readonly<Record<string, (text: string) => object>> = {
  'ai-sdk.send': (text) => ({
    id: 'c',
    messages: [
      ...TABLES.map(({ id, rows }) => ({ id, role: 'assistant', parts: [{ type: 'tool-rows', output: rows }] })),
      { id: 'm', role: 'user', parts: [{ type: 'text', text }] },
    ],
  }),
  'ag-ui.run': (text) => ({
    ...{ threadId: 't', runId: `r-${text}`, tools: [], context: [], state: {}, forwardedProps: {} },
    messages: [
      ...TABLES.map(({ id, rows }) => ({ id, role: 'assistant', content: '', rows })),
      { id: 'm', role: 'user', content: text },
    ],
  }),
  'openai.chat-completion': (text) => ({
    ...{ model: 'echo', stream: true, metadata: { session_id: 's' } },
    messages: [
      ...TABLES.map(({ rows }) => ({ role: 'assistant', content: '', rows })),
      { role: 'user', content: text },
    ],
  }),
  'openai.create-response': (text) => ({
    ...{ model: 'echo', conversation: 'conv' },
    input: [
      ...TABLES.map(({ rows }) => ({ type: 'message', role: 'assistant', content: '', rows })),
      { type: 'message', role: 'user', content: text },
    ],
  }),
}

const LIMITS = { protocolBodyLimitBytes: 8 * 1_048_576 }

const pathOf = ({ path }: Operation) => path.replace(':agentId', 'echo')

describe('an operation whose clients send the history', () => {
  it('is each one that takes the messages of a chat', () => {
    expect(WITH_HISTORY.map(({ id }) => id).sort()).toEqual(Object.keys(CHATS).sort())
  })

  it.each(WITH_HISTORY.map((operation) => [operation.id, operation] as const))(
    '%s takes a history with more members than another body may have',
    async (id, operation) => {
      const { app } = createTestApp({ config: LIMITS })
      const chat = CHATS[id]?.('hello')
      const response = await app.fetch(post(pathOf(operation), chat, { 'idempotency-key': 'k' }))

      expect(await response.text()).not.toContain('invalid-json')
      expect(response.status).toBe(200)
      const repeated = await app.fetch(post(pathOf(operation), chat, { 'idempotency-key': 'k' }))
      expect(repeated.status).toBe(200)
      await repeated.text()
      const other = await app.fetch(post(pathOf(operation), CHATS[id]?.('other'), { 'idempotency-key': 'k' }))
      expect(other.status).toBe(409)
    },
  )

  it.each(WITH_HISTORY.map((operation) => [operation.id, operation] as const))(
    '%s refuses a new message that has so many members, and starts nothing',
    async (id, operation) => {
      const { app, storage } = createTestApp({ config: LIMITS })
      const data = TABLES.flatMap(({ rows }) => rows)
      const withTools = {
        ...CHATS[id]?.('hello'),
        tools: [{ type: 'function', function: { name: 't', parameters: { data } }, name: 't', parameters: { data } }],
      }
      const response = await app.fetch(post(pathOf(operation), withTools))

      expect(await response.text()).toContain('more than 20000 members or 100000 values')
      expect(response.status).toBe(400)
      expect((await storage.runs.list({}, { limit: 1, order: 'asc' }, EVERY_ROW)).items).toEqual([])
    },
  )

  it('names the invalid member of a message', async () => {
    const { app } = createTestApp({ config: LIMITS })
    const chat = CHATS['ai-sdk.send']?.('hello') as { messages: object[] }
    const messages = chat.messages.with(3, { id: 'x', role: 'robot', parts: [] })
    const response = await app.fetch(post('/agents/echo/chat', { ...chat, messages }))

    expect(response.status).toBe(400)
    expect(await response.text()).toContain('body.messages.3.role')
  })

  it('has the field that limits its body in the refusal of a longer one', async () => {
    const { app } = createTestApp({ config: { protocolBodyLimitBytes: 10, bodyLimitBytes: 10 } })
    const hintOf = async (path: string) => (await app.fetch(post(path, { id: 'chat-with-a-long-id' }))).text()

    expect(await hintOf('/agents/echo/chat')).toContain('raise protocols.bodyLimitBytes')
    expect(await hintOf('/agents/echo/run')).toContain('raise server.bodyLimitBytes')
  })
})
