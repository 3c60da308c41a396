import type { RunContext } from '@perdure/core'
import { beforeEach, describe, expect, it } from 'vitest'
import { startedServer } from '../embedding/embedded-server.fixture.ts'

type Sent = readonly (readonly [id: string, text: string])[]

interface Shown {
  readonly role: string
  readonly parts: ReadonlyArray<{ readonly type: string; readonly text?: string }>
}

interface Answer {
  readonly status: number
  readonly text: string
  readonly runId: string | null
}

let post: (path: string, body: object, key?: string) => Promise<Answer>
let get: <T>(path: string) => Promise<T>
/** The inputs that runs of `asker` have received. */
let inputs: string[]

const textOf = (input: unknown): string => (input as { readonly text: string }).text

beforeEach(async () => {
  inputs = []
  const asker = {
    id: 'asker',
    async run(_: unknown, ctx: RunContext) {
      const state = (ctx.resume?.state ?? { count: 0 }) as { readonly count: number }
      if (ctx.resume !== undefined) inputs.push(textOf(ctx.resume.payload))
      const count = state.count + (ctx.resume === undefined ? 0 : 1)
      return count === 3 ? { text: 'done' } : ctx.suspend({ approvals: [], state: { count } })
    },
  }
  const guide = {
    id: 'guide',
    async run(input: unknown, { text }: RunContext) {
      text(`to ${textOf(input)}`)
      return null
    },
  }
  const server = await startedServer({
    agents: [
      { id: 'asker', description: '', agent: asker },
      { id: 'guide', description: '', concurrency: 'session', onBusy: 'queue', agent: guide },
    ],
  })
  post = async (path, body, key) => {
    const headers = { 'content-type': 'application/json', ...(key === undefined ? {} : { 'idempotency-key': key }) }
    const init = { method: 'POST', body: JSON.stringify(body), headers }
    const answer = await server.fetch(new Request(`http://localhost/v1${path}`, init))
    return { status: answer.status, text: await answer.text(), runId: answer.headers.get('x-perdure-run-id') }
  }
  get = async (path) => JSON.parse(await (await server.fetch(new Request(`http://localhost/v1${path}`))).text())
})

const uiMessages = (messages: Sent) =>
  messages.map(([id, text]) => ({ id, role: 'user', parts: [{ type: 'text', text }] }))

const chat = (agent: string, messages: Sent, more: { readonly messageId?: string; readonly id?: string } = {}) =>
  post(`/agents/${agent}/chat`, { id: 'c', messages: uiMessages(messages), ...more })

const agUi = (agent: string, runId: string, messages: Sent) =>
  post(`/agents/${agent}/ag-ui`, {
    ...{ threadId: 'c', runId, tools: [], context: [], state: {}, forwardedProps: {} },
    messages: messages.map(([id, content]) => ({ id, role: 'user', content })),
  })

const questions = async (id = 'c') =>
  (await get<readonly Shown[]>(`/agents/guide/chat/${id}/messages`)).flatMap(({ role, parts }) =>
    role === 'user' ? [parts.map(({ text }) => text).join()] : [],
  )

const settled = async () => {
  const isActive = async () =>
    (await get<{ readonly items: ReadonlyArray<{ readonly status: string }> }>('/runs')).items.some(({ status }) =>
      ['queued', 'running'].includes(status),
    )
  while (await isActive()) await new Promise((resolve) => setTimeout(resolve, 5))
}

describe('a message that a waiting run has received as input', () => {
  it('is not received again when the run waits for the next input', async () => {
    await chat('asker', [['m1', 'one']])
    const first = await chat('asker', [['m2', 'two']])
    const again = await chat('asker', [['m2', 'two']])

    expect([again.status, again.runId]).toEqual([200, first.runId])
    expect(inputs).toEqual(['two'])
  })

  it('is not received again under an Idempotency-Key', async () => {
    await chat('asker', [['m1', 'one']])
    const send = (key: string) => post('/agents/asker/chat', { id: 'c', messages: uiMessages([['m2', 'two']]) }, key)
    await send('k1')
    await send('k1')
    await send('k2')

    expect(inputs).toEqual(['two'])
  })

  it('is received once from two requests at the same time', async () => {
    await chat('asker', [['m1', 'one']])
    const answers = await Promise.all([chat('asker', [['m2', 'two']]), chat('asker', [['m2', 'two']])])

    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect(inputs).toEqual(['two'])
  })

  it('is not received again after a later input', async () => {
    for (const message of [
      ['m1', 'one'],
      ['m2', 'two'],
      ['m3', 'three'],
      ['m2', 'two'],
    ] as const) {
      await chat('asker', [message])
    }

    expect(inputs).toEqual(['two', 'three'])
  })

  it('is not received by a later run of the chat', async () => {
    for (const id of ['m1', 'm2', 'm3', 'm4']) await chat('asker', [[id, id]])
    await chat('asker', [['n1', 'n1']])
    await chat('asker', [['m1', 'm1']])
    await chat('asker', [['m3', 'm3']])

    expect(inputs).toEqual(['m2', 'm3', 'm4'])
  })

  it('has an identity that no other text can use', async () => {
    await chat('asker', [['m1', 'one']])
    await chat('asker', [['m2', 'two']])

    expect((await chat('asker', [['m2', 'changed']])).status).toBe(409)
    expect(inputs).toEqual(['two'])
  })

  it('is received once from AG-UI with the same runId', async () => {
    await agUi('asker', 'r1', [['m1', 'one']])
    const first = await agUi('asker', 'r2', [['m2', 'two']])
    const again = await agUi('asker', 'r2', [['m2', 'two']])

    expect([again.status, again.runId]).toEqual([200, first.runId])
    expect(inputs).toEqual(['two'])
  })

  it('is received once from AG-UI with the next message', async () => {
    await agUi('asker', 'r1', [['m1', 'one']])
    await agUi('asker', 'r2', [['m2', 'two']])
    await agUi('asker', 'r3', [['m3', 'three']])
    await agUi('asker', 'r2', [['m2', 'two']])

    expect(inputs).toEqual(['two', 'three'])
  })
})

it('does not pass the message that started a run to this run as its input, however long its id is', async () => {
  const id = 'L'.repeat(600)
  await chat('asker', [[id, 'start']])
  await chat('asker', [[id, 'start']])

  expect(inputs).toEqual([])
})

const TWO: Sent = [
  ['m1', 'first'],
  ['m2', 'second'],
]
const THREE: Sent = [...TWO, ['m3', 'third']]
const ONE: Sent = TWO.slice(0, 1)

describe('an earlier message of a request', () => {
  it('is answered once if it is sent again alone', async () => {
    const both = await chat('guide', TWO)
    const again = await chat('guide', ONE)

    expect([again.status, again.runId]).toEqual([200, both.runId])
    expect(await questions()).toEqual(['first', 'second'])
  })

  it('is answered once if it is sent again with the next messages', async () => {
    await chat('guide', TWO)
    await chat('guide', THREE)

    expect(await questions()).toEqual(['first', 'second', 'third'])
  })

  it.each([
    ['alone first', [ONE, TWO]],
    ['with the next one first', [TWO, ONE]],
    ['with the next two', [THREE, TWO, ONE]],
  ])('is answered once if it is sent at the same time: %s', async (_, requests) => {
    for (let turn = 0; turn < 5; turn++) {
      const id = `c${turn}`
      const answers = await Promise.all(requests.map((messages) => chat('guide', messages, { id })))
      await settled()

      expect(answers.map(({ status }) => status)).toEqual(requests.map(() => 200))
      expect((await questions(id)).filter((text) => text === 'first')).toEqual(['first'])
      expect((await questions(id)).filter((text) => text === 'second')).toEqual(['second'])
    }
  })

  it('has an identity that no other text can use', async () => {
    await chat('guide', TWO)

    expect((await chat('guide', [['m1', 'changed']])).status).toBe(409)
    expect(await questions()).toEqual(['first', 'second'])
  })

  it('is edited with the messages after it', async () => {
    await chat('guide', TWO)
    await chat('guide', [['m1', 'edited']], { messageId: 'm1' })
    await settled()

    expect(await questions()).toEqual(['edited'])
  })

  it('stays when the message after it is edited', async () => {
    await chat('guide', TWO)
    await chat(
      'guide',
      [
        ['m1', 'first'],
        ['m2', 'edited'],
      ],
      { messageId: 'm2' },
    )
    await settled()

    expect(await questions()).toEqual(['first', 'edited'])
  })

  it('is answered once if AG-UI sends it again', async () => {
    const both = await agUi('guide', 'r1', TWO)
    const again = await agUi('guide', 'r2', ONE)
    await agUi('guide', 'r3', THREE)

    expect([again.status, again.runId]).toEqual([200, both.runId])
    expect(await questions()).toEqual(['first', 'second', 'third'])
  })

  it('is answered once if AG-UI sends it at the same time alone', async () => {
    await Promise.all([agUi('guide', 'r1', ONE), agUi('guide', 'r2', TWO)])
    await settled()

    expect(await questions()).toEqual(['first', 'second'])
  })
})

describe('messages with different ids', () => {
  const long = 'L'.repeat(600)

  it.each([
    ['a space and its escape', 'x y', 'x%20y'],
    ['a character and the end of its escape', '\u0100', '\u00100'],
    ['a percent sign and its escape', '%', '%u0025'],
    ['a common beginning of 600 characters', `${long}1`, `${long}2`],
  ])('are both answered: %s', async (_, one, other) => {
    const answers = [await chat('guide', [[one, 'same']]), await chat('guide', [[other, 'same']])]

    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect(await questions()).toEqual(['same', 'same'])
  })

  it('are both answered in two chats whose ids and theirs are one text together', async () => {
    const answers = [
      await chat('guide', [['b c', 'one']], { id: 'a' }),
      await chat('guide', [['c', 'two']], { id: 'a b' }),
    ]

    expect(answers.map(({ status }) => status)).toEqual([200, 200])
  })

  it('are both part of a request if their ids are long', async () => {
    await chat('guide', [[`${long}1`, 'one']])
    await chat('guide', [
      [`${long}2`, 'two'],
      [`${long}3`, 'three'],
    ])

    expect(await questions()).toEqual(['one', 'two', 'three'])
  })

  it('are edited by a long id from the right one on', async () => {
    await chat('guide', [[`${long}1`, 'one']])
    await chat('guide', [[`${long}2`, 'two']])
    await chat('guide', [[`${long}1`, 'edited']], { messageId: `${long}1` })
    await settled()

    expect(await questions()).toEqual(['edited'])
  })
})

describe('a runId of AG-UI that an earlier request has used', () => {
  it('is refused with another message', async () => {
    await agUi('guide', 'r1', [['m1', 'one']])

    expect((await agUi('guide', 'r1', [['m2', 'two']])).status).toBe(409)
    expect((await agUi('guide', 'r1', [['m1', 'two']])).status).toBe(409)
    expect(await questions()).toEqual(['one'])
  })

  it('is refused with another message at the same time', async () => {
    const answers = await Promise.all([agUi('guide', 'r1', [['m1', 'one']]), agUi('guide', 'r1', [['m2', 'two']])])

    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  })

  it('follows its run with the same message', async () => {
    const first = await agUi('guide', 'r1', [['m1', 'one']])
    const again = await agUi('guide', 'r1', [['m1', 'one']])

    expect([again.status, again.runId]).toEqual([200, first.runId])
  })
})
