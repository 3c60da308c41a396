import { EVERY_ROW } from '@perdure/ports'
import { perProtocol } from '@perdure/protocol'
import { describe, expect, it } from 'vitest'
import { createTestApp, post, refusalOf } from '../app.fixture.ts'

const MESSAGE = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }
const send = (body: object, headers: Record<string, string> = {}) =>
  post('/agents/echo/chat', { id: 'c1', messages: [MESSAGE], ...body }, headers)

/** The run of the stream that was opened last. */
const runIn = (streams: readonly unknown[]) => (streams.at(-1) as { readonly runId: string }).runId

describe('the chat of an agent', () => {
  it('is not there when the protocol is disabled', async () => {
    const { app } = createTestApp({ config: { protocols: perProtocol((name) => name !== 'aiSdk') } })

    expect((await app.fetch(send({}))).status).toBe(404)
  })

  it('is not there for an agent that is hidden from the protocol, as for an unknown agent', async () => {
    const agent = { id: 'quiet', run: async () => 1 }
    const hidden = { id: 'quiet', description: 'Is hidden.', agent, protocols: { aiSdk: false } } as const
    const { app } = createTestApp({
      agents: [hidden, { ...hidden, id: 'mute', agent: { ...agent, id: 'mute' }, protocols: false }],
    })
    const to = async (path: string) => {
      const response = await app.fetch(
        post(path, { id: 'c1', threadId: 't', runId: 'r', messages: [{ ...MESSAGE, content: 'Hello' }] }),
      )
      return [response.status, (await response.text()).replace(/req_\w+|quiet|mute|nobody/g, '')]
    }

    expect(await to('/agents/quiet/chat')).toEqual(await to('/agents/nobody/chat'))
    expect(await to('/agents/mute/ag-ui')).toEqual(await to('/agents/nobody/ag-ui'))
    expect((await to('/agents/quiet/ag-ui'))[0]).toBe(200)
    expect((await app.fetch(new Request('http://localhost/v1/agents/mute/ag-ui/r'))).status).toBe(404)
    const models = await (await app.fetch(new Request('http://localhost/v1/openai/models'))).text()
    expect([models.includes('quiet'), models.includes('mute')]).toEqual([true, false])
    const completion = (model: string) =>
      app.fetch(post('/openai/chat/completions', { model, messages: [{ role: 'user', content: 'Hello' }] }))
    expect((await completion('mute')).status).toBe(404)
  })

  it('makes the input with the function of the registration', async () => {
    const agent = { id: 'own', run: async (input: unknown) => input }
    const registration = {
      id: 'own',
      description: 'x',
      agent,
      fromChat: ({ text }: { text: string }) => [text],
    }
    const { app, storage, streams } = createTestApp({ agents: [registration] })
    await app.fetch(post('/agents/own/chat', { id: 'c1', messages: [MESSAGE] }))

    expect((await storage.runs.find(runIn(streams), EVERY_ROW))?.input).toBe('["Hello"]')
  })

  it('passes members that it does not know to the agent as settings', async () => {
    const { app, storage, streams } = createTestApp()
    const response = await app.fetch(send({ temperature: 0.5 }))

    expect(response.status).toBe(200)
    const run = await storage.runs.find(runIn(streams), EVERY_ROW)
    expect(JSON.parse(run?.input ?? '')).toMatchObject({ text: 'Hello', settings: { temperature: 0.5 } })
    expect(run?.metadata).toEqual({ 'interop.protocol': 'ai-sdk', 'interop.ref': 'm1' })
  })

  it('starts one run for a repeated message, and another one for a message with other ids', async () => {
    const { app, streams } = createTestApp()
    const runOf = async (request: Request) => {
      await app.fetch(request)
      return runIn(streams)
    }
    const first = await runOf(send({}))

    expect(await runOf(send({}))).toBe(first)
    expect(await runOf(send({ id: 'c2' }))).not.toBe(first)
    expect(await runOf(send({ messages: [{ ...MESSAGE, id: 'm2' }] }))).not.toBe(first)
  })

  it('refuses a message id that is used again for another text', async () => {
    const { app } = createTestApp()
    await app.fetch(send({}))
    const changed = { ...MESSAGE, parts: [{ type: 'text', text: 'Bye' }] }

    expect(await refusalOf(await app.fetch(send({ messages: [changed] })))).toEqual({
      status: 409,
      error: 'idempotency-conflict',
    })
    expect((await app.fetch(send({ messages: [changed], messageId: 'm1' }))).status).toBe(200)
  })

  it('keeps the chats of two callers apart', async () => {
    const { app, storage, manage, streams } = createTestApp({ auth: 'token' })
    const sessionOf = async (subject: string) => {
      const { token } = await manage.mint({ name: 'm', scopes: ['agents:invoke'], subject }, 'test')
      await app.fetch(send({}, { Authorization: `Bearer ${token}` }))
      const run = await storage.runs.find(runIn(streams), EVERY_ROW)
      return storage.sessions.find(run?.sessionId ?? '', EVERY_ROW)
    }
    const [alice, bob] = [await sessionOf('alice'), await sessionOf('bob')]

    expect([alice?.owner, bob?.owner]).toEqual(['alice', 'bob'])
    expect(alice?.id).not.toBe(bob?.id)
    expect(alice?.metadata).toEqual({ 'interop.id': 'c1' })
  })

  it.each([
    ['without a message of the user', { messages: [{ ...MESSAGE, role: 'assistant' }] }],
    ['with an unknown trigger', { trigger: 'guess' }],
    ['without messages', { messages: [] }],
    [
      'with an approval response that is not a boolean',
      {
        messages: [
          {
            ...MESSAGE,
            role: 'assistant',
            parts: [{ type: 'dynamic-tool', state: 'approval-responded', approval: { id: 'apr_1', approved: 'yes' } }],
          },
        ],
      },
    ],
  ])('refuses a request %s', async (_, body) => {
    const { app } = createTestApp()

    expect(await refusalOf(await app.fetch(send(body)))).toEqual({ status: 400, error: 'validation-failed' })
  })
})
