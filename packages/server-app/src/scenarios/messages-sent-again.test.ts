import type { RunContext } from '@perdure/core'
import { beforeEach, describe, expect, it } from 'vitest'
import { startedServer } from '../embedding/embedded-server.fixture.ts'

interface Queued {
  readonly runId: string
  readonly content: { readonly messages: ReadonlyArray<{ readonly content: ReadonlyArray<{ readonly text: string }> }> }
}

let send: (path: string, body?: object) => Promise<string>
let open: () => void

const read = async <T>(path: string) => JSON.parse(await send(path)) as T
const runs = () => read<{ readonly items: ReadonlyArray<{ readonly sessionId: string }> }>('/runs')
const queue = async () => {
  const sessionId = (await runs()).items[0]?.sessionId
  return (await read<{ readonly items: readonly Queued[] }>(`/sessions/${sessionId}/queue`)).items
}
const texts = async () =>
  (await queue()).map(({ content }) => content.messages.flatMap((message) => message.content.map(({ text }) => text)))

beforeEach(async () => {
  const { promise: gate, resolve } = Promise.withResolvers<void>()
  open = resolve
  const run = async (_: unknown, { step }: RunContext) => step('work', () => gate.then(() => 'done'))
  const agents = [
    { id: 'guide', description: '', concurrency: 'session', onBusy: 'queue', agent: { id: 'guide', run } },
  ] as const
  const server = await startedServer({ agents })
  send = async (path, body) => {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const headers = { 'content-type': 'application/json' }
    return (await server.fetch(new Request(`http://localhost/v1${path}`, { ...init, headers }))).text()
  }
})

const aiSdk = (messages: readonly (readonly [id: string, text: string])[], id = 'c') =>
  send('/agents/guide/chat', {
    id,
    messages: messages.map(([id, text]) => ({ id, role: 'user', parts: [{ type: 'text', text }] })),
  })

const agUi = (messages: readonly (readonly [id: string, text: string])[], threadId = 'c') =>
  send('/agents/guide/ag-ui', {
    ...{
      threadId,
      runId: `run of ${messages.at(-1)?.[0]}`,
      tools: [],
      context: [],
      state: {},
      forwardedProps: {},
    },
    messages: messages.map(([id, content]) => ({ id, role: 'user', content })),
  })

describe.each([
  ['the AI SDK', aiSdk],
  ['AG-UI', agUi],
])('a page of %s that sends its messages again with the next one', (_, chat) => {
  const accepted = async (count: number) => {
    while ((await runs()).items.length < count) await new Promise((resolve) => setTimeout(resolve, 5))
  }

  it('adds only the next one to the conversation while the others wait', async () => {
    const sent = [chat([['m1', 'one']])]
    await accepted(1)
    sent.push(
      chat([
        ['m1', 'one'],
        ['m2', 'two'],
      ]),
    )
    await accepted(2)
    sent.push(
      chat([
        ['m1', 'one'],
        ['m2', 'two'],
        ['m3', 'three'],
      ]),
    )
    await accepted(3)

    expect(await texts()).toEqual([['two'], ['three']])
    open()
    await Promise.all(sent)
  })

  it('does not bring back a message that was withdrawn', async () => {
    const sent = [chat([['m1', 'one']])]
    await accepted(1)
    sent.push(chat([['m2', 'two']]))
    await accepted(2)
    await send(`/runs/${(await queue())[0]?.runId}/withdraw`, {})
    sent.push(
      chat([
        ['m1', 'one'],
        ['m2', 'two'],
        ['m3', 'three'],
      ]),
    )
    await accepted(3)

    expect(await texts()).toEqual([['three']])
    open()
    await Promise.all(sent)
  })
})

describe.each([
  ['the AI SDK', aiSdk],
  ['AG-UI', agUi],
])('a request of %s that is sent again', (_, chat) => {
  it.each([
    ['a short chat id', 'c'],
    ['a chat id that no key can hold as it is', '寿'.repeat(60)],
  ])('starts one run for %s', async (_, id) => {
    const sent = [chat([['m1', 'one']], id), chat([['m1', 'one']], id)]
    while ((await runs()).items.length < 1) await new Promise((resolve) => setTimeout(resolve, 5))
    sent.push(chat([['m1', 'one']], id))
    open()
    await Promise.all(sent)
    expect((await runs()).items).toHaveLength(1)
  })
})
