import { tool } from 'ai'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { chatAgent } from './index.ts'
import { serverWith, userMessage } from './server.fixture.ts'
import { type ScriptedCall, scriptedModel } from './testing.ts'

interface Chat {
  readonly chatId: string
  readonly sessionId: string
  readonly title: string
  readonly lastMessage: { readonly role: string; readonly text: string; readonly seq: number }
  readonly unread: boolean
  readonly status: string
  readonly runId?: string
  readonly waitingFor: readonly { readonly kind: string; readonly approvalId?: string }[]
}

type Server = Awaited<ReturnType<typeof serverWith>>

interface Shown {
  readonly id: string
  readonly parts: readonly { readonly type: string; readonly text?: string; readonly state?: string }[]
}

const echo = (calls: ScriptedCall[] = []) =>
  scriptedModel(({ text }) => `You said: ${text}`, { onCall: (call) => calls.push(call) })

const refund = tool({ inputSchema: z.object({ amount: z.number() }), execute: () => 'refunded' })

const list = async ({ get }: Server, agentId = 'clock') =>
  (await get<{ readonly items: readonly Chat[] }>(`/agents/${agentId}/chats`)).items

const shown = ({ get }: Server, chatId: string) => get<readonly Shown[]>(`/agents/clock/chat/${chatId}/messages`)
const textsOf = (messages: readonly Shown[]) =>
  messages.map(({ parts }) => parts.flatMap(({ text = [] }) => text).join())

const send = (server: Server, id: string, text: string, message = `m-${id}-${text}`) =>
  server.chat('clock', { id, messages: [userMessage(message, text)] })

const call = async ({ server }: Server, method: string, path: string, body?: object) => {
  const init = { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
  const headers = { 'content-type': 'application/json' }
  const response = await server.fetch(new Request(`http://localhost/v1${path}`, { ...init, headers }))
  const text = await response.text()
  return { status: response.status, body: (text === '' ? undefined : JSON.parse(text)) as never }
}

describe('a chat in the list', () => {
  it('has the beginning of its first message as its title, and shows its newest message', async () => {
    const server = await serverWith([chatAgent({ id: 'clock', model: echo() })])
    await send(server, 'c1', `Where is\n my   parcel? ${'👨‍👩‍👧‍👦'.repeat(100)}`)
    await send(server, 'c2', 'Hi')
    await send(server, 'c1', 'Thanks')

    const [first, second] = await list(server)
    expect([first?.chatId, second?.chatId]).toEqual(['c1', 'c2'])
    expect(first?.title).toBe(`Where is my parcel? ${'👨‍👩‍👧‍👦'.repeat(27)}…`)
    expect(first).toMatchObject({
      lastMessage: { role: 'assistant', text: 'You said: Thanks', seq: 4 },
      ...{ unread: true, status: 'idle', waitingFor: [] },
    })
  })

  it('shows the question and what the turn waits for, until somebody decides', async () => {
    const model = scriptedModel([{ toolName: 'refund', input: { amount: 80 } }, 'Done'])
    const tools = { refund }
    const toolApproval = { refund: 'user-approval' } as const
    const server = await serverWith([chatAgent({ id: 'clock', model, tools, toolApproval })])
    await send(server, 'c1', 'Money back')

    const [waiting] = await list(server)
    expect(waiting).toMatchObject({
      ...{ status: 'suspended', unread: false, lastMessage: { role: 'user', text: 'Money back' } },
      waitingFor: [{ kind: 'approval', approvalId: expect.stringMatching(/^apr_/) }],
    })
    expect(waiting?.runId).toMatch(/^run_/)
    await server.get(`/approvals/${waiting?.waitingFor[0]?.approvalId}/resolve`, { approved: true })
    await vi.waitFor(async () =>
      expect(await list(server)).toMatchObject([{ status: 'idle', unread: true, lastMessage: { text: 'Done' } }]),
    )
    expect((await list(server))[0]?.runId).toBeUndefined()
  })
})

describe('the title of a chat', () => {
  it('is made once from the first question and its answer, and is not made for later turns', async () => {
    const seen: unknown[] = []
    const title = async (messages: readonly { readonly role: string; readonly parts: readonly unknown[] }[]) => {
      seen.push(messages.map(({ role, parts }) => [role, parts]))
      return ` About\nparcels `
    }
    const server = await serverWith([chatAgent({ id: 'clock', model: echo(), title })])
    await send(server, 'c1', 'Where is it?')
    await send(server, 'c1', 'And now?')

    expect((await list(server))[0]?.title).toBe('About parcels')
    expect(seen).toEqual([
      [
        ['user', [{ type: 'text', text: 'Where is it?' }]],
        ['assistant', [{ type: 'text', text: 'You said: Where is it?' }]],
      ],
    ])
  })

  it('stays the first message if the function fails, and the turn completes', async () => {
    const title = () => Promise.reject(new Error('no titles today'))
    const server = await serverWith([chatAgent({ id: 'clock', model: echo(), title })])
    const chunks = await send(server, 'c1', 'Where is it?')

    expect(chunks.at(-1)?.type).toBe('finish')
    const [chat] = await list(server)
    expect(chat).toMatchObject({ title: 'Where is it?', lastMessage: { text: 'You said: Where is it?' } })
    const { items } = await server.get<{ readonly items: readonly object[] }>(`/sessions/${chat?.sessionId}/runs`)
    expect(items).toMatchObject([{ status: 'completed' }])
  })

  it('is that of the user for good, also if the agent makes one later', async () => {
    let go = () => {}
    const gate = new Promise<void>((resolve) => {
      go = resolve
    })
    const title = async () => {
      await gate
      return 'From the agent'
    }
    const server = await serverWith([chatAgent({ id: 'clock', model: echo(), title })])
    const answered = send(server, 'c1', 'Where is it?')
    await vi.waitFor(async () => expect(await list(server)).toHaveLength(1))
    await call(server, 'PATCH', '/agents/clock/chats/c1', { title: 'From the user' })
    go()
    await answered

    expect((await list(server))[0]?.title).toBe('From the user')
  })

  it.each([[5], ['last-message'], [null]])('refuses %j', (title) => {
    expect(() => chatAgent({ id: 'clock', model: echo(), title: title as never })).toThrow("'first-message'")
  })
})

describe('a forked chat', () => {
  it('shows the messages up to the named one, and its model sees only these', async () => {
    const calls: ScriptedCall[] = []
    const server = await serverWith([chatAgent({ id: 'clock', model: echo(calls) })])
    for (const text of ['one', 'two', 'three']) await send(server, 'c1', text)
    const before = await shown(server, 'c1')
    const answer = before[3]?.id ?? ''
    const forked = await call(server, 'POST', '/agents/clock/chats/c1/fork', { chatId: 'c2', messageId: answer })
    expect(forked).toMatchObject({
      ...{ status: 201 },
      body: { chatId: 'c2', title: 'one', unread: false, lastMessage: { text: 'You said: two' }, status: 'idle' },
    })

    expect(textsOf(await shown(server, 'c2'))).toEqual(['one', 'You said: one', 'two', 'You said: two'])
    await send(server, 'c2', 'four')
    await send(server, 'c1', 'five')
    const prompts = calls.slice(-2).map(({ prompt }) => JSON.stringify(prompt.map(({ content }) => content)))
    expect(prompts[0]).toMatch(/one.*You said: one.*two.*You said: two.*four/)
    expect(prompts[0]).not.toContain('three')
    expect(prompts[1]).toMatch(/one.*two.*three.*five/)
    expect(prompts[1]).not.toContain('four')
    expect(textsOf(await shown(server, 'c1'))).toEqual([...textsOf(before), 'five', 'You said: five'])
  })

  it('is a whole copy by default, under the id of its session, with its tool calls', async () => {
    const model = scriptedModel([{ toolName: 'refund', input: { amount: 1 } }, 'Done', 'Again'])
    const server = await serverWith([chatAgent({ id: 'clock', model, tools: { refund } })])
    await send(server, 'c1', 'Money back')
    const { body } = await call(server, 'POST', '/agents/clock/chats/c1/fork', {})
    const { chatId, sessionId } = body as Chat

    expect(chatId).toBe(sessionId)
    const strip = (messages: readonly Shown[]) => JSON.stringify(messages).replace(/run_\w+|ses_\w+|x[0-9a-v]{26}/g, '')
    expect(strip(await shown(server, chatId))).toBe(strip(await shown(server, 'c1')))
    const chunks = await send(server, chatId, 'Once more')
    expect(chunks.at(-1)?.type).toBe('finish')
    expect((await shown(server, chatId)).length).toBe(4)
    expect((await shown(server, 'c1')).length).toBe(2)
  })

  it('leaves out a turn that works, and refuses a message that no turn has', async () => {
    const model = scriptedModel([{ toolName: 'refund', input: { amount: 80 } }, 'Done'])
    const toolApproval = { refund: 'user-approval' } as const
    const server = await serverWith([chatAgent({ id: 'clock', model, tools: { refund }, toolApproval })])
    await send(server, 'c1', 'Money back')

    const nothing = await call(server, 'POST', '/agents/clock/chats/c1/fork', {})
    const unknown = await call(server, 'POST', '/agents/clock/chats/c1/fork', { messageId: 'nope' })
    expect([nothing, unknown]).toMatchObject([
      { status: 400, body: { error: 'validation-failed', message: expect.stringContaining('no turn') } },
      { status: 400, body: { error: 'validation-failed', message: expect.stringContaining('body.messageId') } },
    ])
    expect(await list(server)).toHaveLength(1)
  })
})
