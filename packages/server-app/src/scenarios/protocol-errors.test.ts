import { type AgentRegistration, defineAgent, type ProtocolOptions, type RunContext } from '@perdure/core'
import { createInMemoryStorage } from '@perdure/in-memory'
import type { EpochMs } from '@perdure/ports'
import { OPERATIONS, protocolOf } from '@perdure/protocol'
import { describe, expect, it } from 'vitest'
import { startedServer } from '../embedding/embedded-server.fixture.ts'
import { PROTOCOL_READS, type Read } from './protocol-reads.fixture.ts'

const SECRET = 'password=hunter2'
const fail = (): never => {
  throw Object.assign(new Error(`${SECRET} of a tool`), { code: 'E_HUNTER2' })
}

/** Fails in every way in which an exception reaches the log of a run. */
async function run(_: unknown, ctx: RunContext): Promise<unknown> {
  await ctx.tool({ name: 'lookUp', args: {}, execute: fail })
  const ofProvider = { toolCallId: 'call_1', error: { kind: 'execution_failed', message: `${SECRET} of a provider` } }
  await ctx.emit('tool.call.end', { toolCallId: 'call_1', toolName: 'search', args: {} })
  await ctx.emit('tool.result', ofProvider)
  await ctx.step('model', fail, { retries: { max: 1, delay: 1 } }).catch(() => undefined)
  ctx.log.error(`${SECRET} in a log line`, undefined)
  throw Object.assign(new Error(`${SECRET} of a model`, { cause: new Error(`${SECRET} of a cause`) }), {
    code: 'E_HUNTER2',
  })
}

/** A server whose agent `failing` has failed runs in each protocol. */
async function setUp(protocols: ProtocolOptions) {
  const agent: AgentRegistration = { id: 'failing', agent: { id: 'failing', run }, protocols }
  const storage = createInMemoryStorage()
  const server = await startedServer({
    agents: [agent],
    adapters: { storage, logger: { debug() {}, info() {}, warn() {}, error() {} } },
  })
  const send = async ([method, path, body, headers = {}]: Read): Promise<string> => {
    const response = await server.fetch(
      new Request(`http://localhost/v1${path}`, {
        method,
        headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    )
    return `${response.status} ${await response.text()}`
  }
  const runIds = async (): Promise<readonly string[]> => {
    const { items } = JSON.parse((await send(['GET', '/runs'])).slice(4)) as {
      readonly items: { readonly id: string }[]
    }
    return items.map(({ id }) => id)
  }
  /** The answer to the request that starts a run, and the answers to the reads of an operation. */
  const readAll = async (id: keyof typeof PROTOCOL_READS) => {
    const { start, reads } = PROTOCOL_READS[id]
    const started = await send(start)
    const [runId = ''] = await runIds()
    const answers = [started]
    for (const read of reads) answers.push(await send(read({ runId, started })))
    return { runId, answers, runIds: await runIds() }
  }
  const dropEvents = () =>
    storage.unitOfWork.commit([{ type: 'event.trim', before: (Date.now() + 86_400_000) as EpochMs, limit: 10_000 }])
  return { send, readAll, dropEvents }
}

const OF_PROTOCOLS = OPERATIONS.filter((operation) => protocolOf(operation) !== undefined).map(({ id }) => id)
const CELLS = Object.keys(PROTOCOL_READS) as (keyof typeof PROTOCOL_READS)[]
const SHOWING = CELLS.filter((id) => PROTOCOL_READS[id].reads.length > 0)

/** The run that the answer names in place of an error. */
const runNamedIn = (answer: string) => /An error occurred \(run (\w+)\)/.exec(answer)?.[1]

describe('an error of a run, in the protocols of other software', () => {
  it('is tested in every operation of every protocol', () => {
    expect([...CELLS].sort()).toEqual([...OF_PROTOCOLS].sort())
  })

  it.each(SHOWING)('is shown by %s as the id of the run only', async (id) => {
    const { readAll } = await setUp({})
    const { runIds, answers } = await readAll(id)

    for (const answer of answers) {
      expect(answer).not.toMatch(/hunter2/i)
      expect(runIds, answer).toContain(runNamedIn(answer))
    }
  })

  it.each(SHOWING)('is shown by %s with its message if the registration says so', async (id) => {
    const { answers } = await (await setUp({ errors: 'message' })).readAll(id)

    for (const answer of answers) expect(answer).toContain(SECRET)
  })

  it.each(SHOWING)('is shown by %s with the text of a function', async (id) => {
    const seen: string[] = []
    const { readAll } = await setUp({
      errors: ({ code, message, runId, toolName }) => {
        seen.push(message)
        return `sorry: ${code} in ${toolName ?? 'the run'} of ${runId}`
      },
    })
    const { runIds, answers } = await readAll(id)

    for (const answer of answers) {
      expect(answer).not.toContain(SECRET)
      expect(runIds, answer).toContain(/sorry: [\w-]+ in [\w ]+ of (\w+)/.exec(answer)?.[1])
    }
    expect(seen.some((message) => message.includes(SECRET))).toBe(true)
  })

  it.each([
    ['throws', fail],
    ['returns no text', () => undefined as never],
  ])('is shown as the id of the run if the function %s', async (_, errors) => {
    const { runId, answers } = await (await setUp({ errors } as never)).readAll('ai-sdk.send')

    for (const answer of answers) {
      expect(answer).not.toMatch(/hunter2/i)
      expect(runNamedIn(answer)).toBe(runId)
    }
  })

  it('is hidden too when the events of the run have been deleted', async () => {
    for (const id of ['openai.get-response', 'ag-ui.connect', 'mcp-server.send'] as const) {
      const { send, readAll, dropEvents } = await setUp({})
      const { runId } = await readAll(id)
      expect(await dropEvents()).toMatchObject({ committed: true })
      const modern = PROTOCOL_READS['mcp-server.send'].reads.at(-1)
      const reads = id === 'mcp-server.send' ? [modern] : PROTOCOL_READS[id].reads
      for (const read of reads) {
        const answer = await send(read?.({ runId, started: '' }) ?? ['GET', '/'])
        expect(answer).not.toMatch(/hunter2/i)
        expect(runNamedIn(answer)).toBe(runId)
      }
    }
  })

  it('is shown to those who may read the run', async () => {
    const { send, readAll } = await setUp({})
    const { runId } = await readAll('ai-sdk.send')

    for (const path of [`/runs/${runId}`, `/runs/${runId}/events`]) {
      expect(await send(['GET', path])).toContain(`${SECRET} of a model`)
    }
  })

  it('of a tool that the client performed, is the text that the client sent', async () => {
    const server = await startedServer({
      agents: [
        defineAgent({
          id: 'picker',
          run: async (_, ctx) => (await ctx.clientTool({ name: 'pick', toolCallId: 'c1' })).ok,
        }),
      ],
    })
    const chat = async (message: object) => {
      const body = JSON.stringify({ id: 'c', messages: [message] })
      const headers = { 'content-type': 'application/json' }
      const response = await server.fetch(
        new Request('http://localhost/v1/agents/picker/chat', { method: 'POST', headers, body }),
      )
      return { text: await response.text(), runId: response.headers.get('x-perdure-run-id') }
    }
    const { runId } = await chat({ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'go' }] })
    const part = { type: 'dynamic-tool', toolCallId: 'c1', state: 'output-error', errorText: 'no camera' }
    const { text } = await chat({ id: `msg_${runId}`, role: 'assistant', parts: [part] })

    expect(text).toContain('no camera')
  })
})
