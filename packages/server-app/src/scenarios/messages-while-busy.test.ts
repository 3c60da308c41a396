import type { RunContext } from '@perdure/core'
import { beforeEach, describe, expect, it } from 'vitest'
import { startedServer } from '../embedding/embedded-server.fixture.ts'

interface Shown {
  readonly id: string
  readonly role: string
  readonly parts: ReadonlyArray<{ readonly type: string; readonly text?: string }>
}

let request: (path: string, init?: RequestInit) => Promise<Response>
let send: (path: string, body?: object) => Promise<string>
let read: <T>(path: string) => Promise<T>
let open: () => void

const textOf = (input: unknown): string => (input as { readonly text: string }).text

/** Says something, works until the test opens the gate, takes the messages that wait, and answers. */
beforeEach(async () => {
  const { promise: gate, resolve } = Promise.withResolvers<void>()
  open = resolve
  const run = async (input: unknown, { text, step, session }: RunContext) => {
    text(`to ${textOf(input)}`)
    await step('work', () => gate)
    const taken = (await session?.takeMessages()) ?? []
    text(taken.map(({ content }) => `and to ${textOf(content)}`).join())
    return null
  }
  const onBusy = ['queue', 'steer', 'interrupt', 'reject'] as const
  const agents = [
    { id: 'guide', description: '', concurrency: 'session', onBusy, agent: { id: 'guide', run } },
  ] as const
  const server = await startedServer({ agents })
  request = (path, { headers, ...init } = {}) =>
    server.fetch(
      new Request(`http://localhost/v1${path}`, {
        ...init,
        headers: { 'content-type': 'application/json', ...headers },
      }),
    )
  send = async (path, body) => {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    return (await request(path, init)).text()
  }
  read = async (path) => JSON.parse(await send(path))
})

interface Run {
  readonly id: string
  readonly sessionId: string
  readonly status: string
  readonly withdrawnBy?: string
}

const runs = async () => (await read<{ readonly items: readonly Run[] }>('/runs?order=asc')).items

/** Resolves once the server has accepted that many messages. */
async function accepted(count: number): Promise<void> {
  while ((await runs()).length < count) await new Promise((resolve) => setTimeout(resolve, 5))
}

const message = (id: string, text: string, metadata?: object) => ({
  ...{ id, role: 'user', parts: [{ type: 'text', text }] },
  ...(metadata === undefined ? {} : { metadata }),
})

const chat = (id: string, text: string, metadata?: object) =>
  send('/agents/guide/chat', { id: 'c', messages: [message(id, text, metadata)] })

const page = async () =>
  (await read<readonly Shown[]>('/agents/guide/chat/c/messages')).map(({ role, parts }) => [
    role,
    ...parts.flatMap(({ type, text }) => (type === 'step-start' ? [] : [text ?? type])),
  ])

describe('a message that a run takes after it has said something', () => {
  it('is shown at its place in the answer', async () => {
    const first = chat('m1', 'one')
    await accepted(1)
    const second = chat('m2', 'two')
    await accepted(2)
    open()
    await Promise.all([first, second])

    expect(await page()).toEqual([
      ['user', 'one'],
      ['assistant', 'to one', 'steering-message', 'and to two'],
    ])
  })
})

describe('GET /agents/:agentId/chat/:chatId/queue', () => {
  it('lists the messages of the chat that wait, a page at a time', async () => {
    expect(await read('/agents/guide/chat/c/queue')).toEqual({ items: [], nextCursor: null })
    const first = chat('m1', 'one')
    await accepted(1)
    const others = [chat('m2', 'two', { onBusy: 'steer' })]
    await accepted(2)
    others.push(chat('m3', 'three'))
    await accepted(3)
    const [, second] = await runs()

    const page = await read<{ readonly nextCursor: string }>('/agents/guide/chat/c/queue?limit=1')
    expect(page).toMatchObject({ items: [{ runId: second?.id, onBusy: 'steer', content: { text: 'two' } }] })
    expect(await read(`/agents/guide/chat/c/queue?cursor=${page.nextCursor}`)).toMatchObject({
      ...{ items: [{ onBusy: 'queue', content: { text: 'three' } }], nextCursor: null },
    })
    expect(await read('/agents/guide/chat/other/queue')).toMatchObject({ items: [] })
    open()
    await Promise.all([first, ...others])
    expect(await read('/agents/guide/chat/c/queue')).toMatchObject({ items: [] })
  })
})

describe('a message whose request is repeated', () => {
  const keyed = async (id: string, text: string, key: string) => {
    const body = JSON.stringify({ id: 'c', messages: [message(id, text)] })
    const response = await request('/agents/guide/chat', { method: 'POST', body, headers: { 'idempotency-key': key } })
    return { status: response.status, runId: response.headers.get('x-perdure-run-id'), text: await response.text() }
  }

  it('is answered with its own run after another run has taken it', async () => {
    const first = chat('m1', 'one')
    await accepted(1)
    const second = keyed('m2', 'two', 'key-2')
    await accepted(2)
    open()
    await Promise.all([first, second])

    const { runId } = await second
    expect((await runs()).map(({ id }) => id)[1]).toBe(runId)
    expect(await keyed('m2', 'two', 'key-2')).toMatchObject({ status: 200, runId })
    expect(await keyed('m2', 'two', 'another')).toMatchObject({ status: 200, runId })
  })

  it('is answered as before after the waiting message was edited', async () => {
    const first = chat('m1', 'one')
    await accepted(1)
    const second = keyed('m2', 'two', 'key-2')
    await accepted(2)
    const runId = (await runs())[1]?.id
    const body = JSON.stringify({ input: { text: 'three' } })
    expect((await request(`/runs/${runId}`, { method: 'PATCH', body })).status).toBe(200)
    const again = keyed('m2', 'two', 'key-2')
    open()

    expect([await second, await again]).toMatchObject([
      { status: 200, runId },
      { status: 200, runId },
    ])
    await first
    expect(await runs()).toHaveLength(2)
  })
})

describe('an edit of a message that a turn has taken', () => {
  const edit = (messages: readonly object[], messageId: string) =>
    send('/agents/guide/chat', { id: 'c', messages, trigger: 'submit-message', messageId })

  const twoInOneTurn = async () => {
    const first = chat('m1', 'one')
    await accepted(1)
    const others = [chat('m2', 'two')]
    await accepted(2)
    others.push(chat('m3', 'three'))
    await accepted(3)
    open()
    await Promise.all([first, ...others])
    return read<readonly Shown[]>('/agents/guide/chat/c/messages')
  }

  it('replaces the turn by one with the earlier messages of the turn and the edited one', async () => {
    const [question, answer] = await twoInOneTurn()
    expect(answer?.parts.filter(({ type }) => type === 'steering-message')).toMatchObject([{ id: 'm2' }, { id: 'm3' }])

    await edit([question as Shown, answer as Shown, message('m3', 'THREE')], 'm3')
    expect(await page()).toEqual([...['one', 'two', 'THREE'].map((text) => ['user', text]), ['assistant', 'to THREE']])
    const [turn, , , replacing] = await runs()
    expect(turn?.withdrawnBy).toBe(replacing?.id)

    await edit([question as Shown, message('m2', 'TWO')], 'm2')
    expect(await page()).toEqual([...['one', 'TWO'].map((text) => ['user', text]), ['assistant', 'to TWO']])
  })

  it('starts a new turn when no turn of the chat has the message any more', async () => {
    const [question, answer] = await twoInOneTurn()
    await edit([message('m1', 'ONE')], 'm1')
    expect(await page()).toEqual([
      ['user', 'ONE'],
      ['assistant', 'to ONE'],
    ])

    await edit([question as Shown, answer as Shown, message('m3', 'THREE')], 'm3')
    expect((await page()).slice(2)).toEqual([
      ['user', 'THREE'],
      ['assistant', 'to THREE'],
    ])
  })
})

describe('onBusy of a request of another protocol', () => {
  const agUi = (runId: string, settings?: object) =>
    send('/agents/guide/ag-ui', {
      ...{ threadId: 't', runId, messages: [{ id: `m-${runId}`, role: 'user', content: runId }] },
      ...(settings === undefined ? {} : { forwardedProps: settings }),
    })
  const completion = (text: string, metadata: object = {}) =>
    send('/openai/chat/completions', {
      ...{ model: 'guide', messages: [{ role: 'user', content: text }] },
      metadata: { session_id: 't', ...metadata },
    })
  const response = (text: string, metadata: object = {}) =>
    send('/openai/responses', { model: 'guide', input: text, conversation: 't', metadata })

  it.each([
    ['forwardedProps of AG-UI', agUi],
    ['metadata of a chat completion', completion],
    ['metadata of a response', response],
  ])('is read from the %s', async (_, ask) => {
    if (ask === response) await send('/sessions', { id: 't', agentId: 'guide' })
    const first = ask('one')
    await accepted(1)
    expect(await ask('two', { onBusy: 'halt' })).toContain('must be one of reject, queue, steer, interrupt')
    expect(await ask('three', { onBusy: 'reject' })).toContain('agent-busy')
    const fourth = ask('four', { onBusy: 'steer' })
    await accepted(2)

    const [run] = await runs()
    const { items } = await read<{ readonly items: object }>(`/sessions/${run?.sessionId}/queue`)
    expect(items).toMatchObject([{ onBusy: 'steer' }])
    open()
    await Promise.all([first, fourth])
  })
})
