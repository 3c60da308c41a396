import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DurableServer, startDurableServer } from '../durable-server.ts'
import { unusedPort } from '../unused-port.ts'

const CONFIG = join(import.meta.dirname, '../fixtures/mcp.config.mjs')
const MODERN = '2026-07-28'
const TOKEN_OF_PROGRESS = 'p1'

let server: DurableServer
let kill = () => {}
beforeAll(async () => {
  server = await startDurableServer(CONFIG, { E2E_PORT: String(await unusedPort()) }, (end) => {
    kill = end
  })
})
afterAll(() => kill())

interface Message {
  readonly id?: string | number
  readonly method?: string
  readonly params?: { readonly message?: string }
  readonly result?: Readonly<Record<string, unknown>>
}

/** One block of an answer. */
interface Block {
  readonly id: string
  readonly message: Message | undefined
}

const send = (method: 'GET' | 'POST', headers: Record<string, string>, body?: object) =>
  fetch(`${server.url()}/mcp`, {
    method,
    headers: {
      authorization: `Bearer ${server.token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify({ jsonrpc: '2.0', ...body }) }),
  })

/** The headers of a client that has done the handshake and asks its user. */
const LEGACY = { 'mcp-protocol-version': '2025-11-25', 'mcp-session-id': 'perdure1-e' }

const blockOf = (text: string): Block | undefined => {
  const [, id = ''] = /^id: (.*)$/m.exec(text) ?? []
  const [, data] = /^data:(.*)$/m.exec(text) ?? []
  return data === undefined ? undefined : { id, message: data === '' ? undefined : JSON.parse(data) }
}

/** Reads the blocks of a response until `isLast`, and then breaks the connection; answers each question meanwhile. */
async function blocksOf(
  response: Response,
  isLast: (block: Block) => boolean = () => false,
): Promise<readonly Block[]> {
  const blocks: Block[] = []
  let text = ''
  for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += part
    const whole = text.split('\n\n')
    text = whole.pop() ?? ''
    for (const block of whole.map(blockOf)) {
      if (block === undefined) continue
      blocks.push(block)
      if (isLast(block)) return blocks
      await approve(block)
    }
  }
  return blocks
}

async function approve({ message }: Block): Promise<void> {
  if (message?.method !== 'elicitation/create') return
  const result = { action: 'accept', content: { approved: true } }
  expect((await send('POST', LEGACY, { id: message.id, result })).status).toBe(202)
}

/** What a block is in the answer, whatever the ids of its run. */
function nameOf({ message }: Block): string {
  if (message === undefined) return 'prime'
  if (message.method === 'notifications/progress') return `progress ${message.params?.message}`
  return message.method === undefined ? 'result' : 'elicitation'
}

/** The block without the ids that differ from run to run. */
const shapeOf = (block: Block) => ({
  name: nameOf(block),
  text: JSON.stringify(block.message ?? '').replaceAll(/(run|apr)_[\dA-Z]+/g, '$1'),
})

const call = () =>
  send('POST', LEGACY, {
    id: 7,
    method: 'tools/call',
    params: { name: 'approver', arguments: {}, _meta: { progressToken: TOKEN_OF_PROGRESS } },
  })

describe('the answer to a call', () => {
  it('goes on in another process after a cut behind any of its blocks, as if it had not been cut', async () => {
    const whole = await blocksOf(await call())
    const names = whole.map(nameOf)
    expect(names).toEqual(
      expect.arrayContaining(['prime', 'progress writing', 'progress I need a decision.', 'elicitation', 'result']),
    )

    const cut = []
    for (const name of names) cut.push(await blocksOf(await call(), (block) => nameOf(block) === name))
    await server.restart('SIGKILL')

    for (const [index, before] of cut.entries()) {
      const last = before.at(-1) as Block
      // The user answers the question after the crash.
      await approve(last)
      const rest = await blocksOf(await send('GET', { ...LEGACY, 'last-event-id': last.id }))
      expect([...before, ...rest].map(shapeOf), `cut after ${names[index]}`).toEqual(whole.map(shapeOf))
    }
  })

  it('is given again to a client that cannot resume, in another process, under the key of the call', async () => {
    const ask = (members: object) => {
      const _meta = {
        'io.modelcontextprotocol/protocolVersion': MODERN,
        'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
        'perdure/idempotencyKey': 'k-cut',
        progressToken: TOKEN_OF_PROGRESS,
      }
      const headers = { 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call', 'mcp-name': 'approver' }
      const params = { name: 'approver', arguments: {}, ...members, _meta }
      return send('POST', headers, { id: 7, method: 'tools/call', params })
    }
    const whole = await blocksOf(await ask({}))
    const names = whole.map(nameOf)
    expect(names.at(-1)).toBe('result')
    const { requestState, inputRequests } = whole.at(-1)?.message?.result ?? {}

    for (const name of names) await blocksOf(await ask({}), (block) => nameOf(block) === name)
    await server.restart('SIGKILL')
    expect(await blocksOf(await ask({}))).toEqual(whole)

    const inputResponses = Object.fromEntries(
      Object.keys(inputRequests as object).map((id) => [id, { action: 'accept', content: { approved: true } }]),
    )
    const answered = await blocksOf(await ask({ requestState, inputResponses }))
    await server.restart('SIGKILL')
    const again = await blocksOf(await ask({ requestState, inputResponses }))
    expect(again.at(-1)?.message?.result).toMatchObject({ resultType: 'complete' })
    expect(again.at(-1)?.message).toEqual(answered.at(-1)?.message)
  })
})
