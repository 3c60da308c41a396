import { createHash } from 'node:crypto'
import { type AgentRegistration, defineAgent, type RunContext } from '@perdure/core'
import { createInMemoryStorage } from '@perdure/in-memory'
import { OPERATIONS, type ProtocolName, protocolOf } from '@perdure/protocol'
import { describe, expect, it } from 'vitest'
import { startedServer } from '../embedding/embedded-server.fixture.ts'
import { PROTOCOL_READS, type Read } from './protocol-reads.fixture.ts'

const [BEGINNING, END] = ['BEGINNING-OF-REQUEST', 'END-OF-REQUEST']
const requestOf = (length: number) => ({ pay: BEGINNING, letter: 'x'.repeat(length), andAlso: END })

/** How code asks for a decision: on a payload, on the arguments of a tool, or on a payload in place of these. */
const ASKS: Readonly<Record<string, (ctx: RunContext, request: object) => Promise<unknown>>> = {
  approval: (ctx, payload) => ctx.approval('pay', { payload }),
  tool: (ctx, args) => ctx.tool({ name: 'pay', args, approval: true, execute: () => 'paid' }),
  'tool with a payload': (ctx, payload) =>
    ctx.tool({ name: 'pay', args: { amount: 1 }, approval: { payload }, execute: () => 'paid' }),
}

/** How an answer of a protocol lets the person who reads it approve. */
const OFFERS: Readonly<Record<ProtocolName, RegExp>> = {
  aiSdk: /tool-approval-request|approval-requested/,
  agUi: /"interrupts":\[\{/,
  openai: /mcp_approval_request|perdure_approval/,
  mcp: /elicitation\/create/,
}

interface World {
  readonly asks: keyof typeof ASKS
  readonly length: number
  /** The length of the text that the agent writes before it asks. */
  readonly before?: number
}

/** A server on which the agent of `PROTOCOL_READS` waits for a decision. */
async function setUp({ asks, length, before = 0 }: World) {
  const run = async (_: unknown, ctx: RunContext) => {
    for (let written = 0; written < before; written += 100_000) await ctx.text('t'.repeat(100_000))
    return ASKS[asks]?.(ctx, requestOf(length))
  }
  const agent: AgentRegistration = defineAgent({ id: 'failing', description: 'Asks.', run })
  const storage = createInMemoryStorage()
  const quiet = { debug() {}, info() {}, warn() {}, error() {} }
  const server = await startedServer({
    agents: [agent],
    adapters: { storage, logger: quiet },
    config: { protocols: { maxAnswerBytes: 1_048_576 } },
  })
  const send = async ([method, path, body, headers = {}]: Read): Promise<string> =>
    textOf(
      await server.fetch(
        new Request(`http://localhost/v1${path}`, {
          method,
          headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        }),
      ),
    )
  const pending = async () => {
    const { items } = JSON.parse(await send(['GET', '/approvals?status=pending'])) as {
      readonly items: ReadonlyArray<{ readonly id: string; readonly runId: string; readonly payload: unknown }>
    }
    return items
  }
  return { send, pending }
}

/** What the answer says until it ends, or until a stream that stays open has shown a request. */
async function textOf(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  const reader = response.body?.getReader()
  const late = setTimeout(() => void reader?.cancel(), 3_000)
  const isOpenStream = response.headers.get('content-type')?.includes('event-stream')
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true }
    if (value !== undefined) text += decoder.decode(value, { stream: true })
    if (done || (isOpenStream && text.endsWith('\n\n') && (text.includes(END) || text.includes(BEGINNING)))) break
  }
  clearTimeout(late)
  await reader?.cancel()
  return text
}

/** An answer that shows the beginning of a request, or names it and leaves it out. */
const BEGINS = new RegExp(`${BEGINNING}|payloadLeftOut`)

const isWhole = (answer: string) => answer.includes(END)

/** Whether the answer says that the request is cut, with its size and its hash. */
function saysCut(answer: string, payload: unknown): boolean {
  const text = JSON.stringify(payload)
  const hash = createHash('sha256').update(text).digest('hex')
  return answer.includes(hash) && answer.includes(String(text.length))
}

/** The question of MCP for a client with a handshake. */
const LEGACY_CALL: Read = [
  'POST',
  '/mcp',
  { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'failing', arguments: {} } },
  {
    ...{ 'mcp-protocol-version': '2025-11-25', 'mcp-session-id': 'perdure1-e' },
    accept: 'application/json, text/event-stream',
  },
]
const PENDING_BY_MCP: Read = [
  ...(['POST', '/mcp'] as const),
  { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'perdure_approvals', arguments: {} } },
]

const CELLS = Object.keys(PROTOCOL_READS) as (keyof typeof PROTOCOL_READS)[]
const SHOWING = CELLS.filter((id) => PROTOCOL_READS[id].reads.length > 0)
const READS = OPERATIONS.filter(({ method }) => method === 'GET').filter((one) => protocolOf(one) === undefined)
const protocolNamed = (id: string) => OPERATIONS.flatMap((one) => (one.id === id ? (protocolOf(one) ?? []) : []))[0]

const WORLDS = Object.keys(ASKS).flatMap((asks) =>
  [
    [3_000, 0],
    [200_000, 0],
    [3_000, 2_000_000],
  ].map(([length = 0, before = 0]) => ({ asks, length, before })),
)

describe.each(WORLDS)('a request of $length characters for $asks, after a text of $before', (world) => {
  it.each(SHOWING)('is shown as a whole by %s, or cannot be approved there', async (id) => {
    const { send, pending } = await setUp(world)
    const { start, reads } = PROTOCOL_READS[id]
    const protocol = protocolNamed(id)
    const more = protocol === 'mcp' ? [LEGACY_CALL, PENDING_BY_MCP] : []
    const started = await send(start)
    const [asked] = await pending()
    const runId = asked?.runId ?? ''
    const answers = [started]
    for (const read of [...reads.map((one) => one({ runId, started })), ...more]) answers.push(await send(read))

    expect(answers.some((answer) => isWhole(answer) || saysCut(answer, asked?.payload))).toBe(true)
    for (const answer of answers) {
      const isOffered = protocol !== undefined && OFFERS[protocol].test(answer)
      if (isWhole(answer) || !(isOffered || BEGINS.test(answer))) continue
      expect(saysCut(answer, asked?.payload), answer.slice(-2_000)).toBe(true)
      const approved = { action: 'accept', content: { approved: true } }
      for (const { id: approvalId } of await pending()) {
        await send(['POST', '/mcp', { jsonrpc: '2.0', id: approvalId, result: approved }])
        expect((await pending()).map((one) => one.id)).toContain(approvalId)
      }
    }
  })
})

describe.each(Object.keys(ASKS))('a long request for %s', (asks) => {
  it('is shown as a whole by every read of the API that shows it', async () => {
    const { send, pending } = await setUp({ asks, length: 200_000 })
    await send(PROTOCOL_READS['ai-sdk.send'].start)
    const [{ id = '', runId = '' } = {}] = await pending()
    const { sessionId } = JSON.parse(await send(['GET', `/runs/${runId}`])) as { readonly sessionId: string }
    const params = new Map(Object.entries({ runId, approvalId: id, agentId: 'failing', sessionId, chatId: 'c' }))
    const showing: string[] = []
    for (const operation of READS) {
      const path = operation.path.replaceAll(/:(\w+)/g, (__, name: string) => params.get(name) ?? 'none')
      const answer = await send(['GET', path])
      if (!answer.includes(BEGINNING)) continue
      showing.push(operation.id)
      expect(isWhole(answer), operation.id).toBe(true)
    }
    expect(showing).toEqual(expect.arrayContaining(['approvals.get', 'approvals.list']))
  })
})
