import { context, SpanStatusCode, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  type SpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { RunContext } from '@perdure/core'
import { createInMemoryStorage } from '@perdure/in-memory'
import { type Logger, type McpCall, type McpClient, noTracer, type Storage } from '@perdure/ports'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createServer } from '../create-server.ts'
import type { PerdureServer } from '../perdure-server.ts'
import type { ServerOptions } from '../server-options.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const CLIENT = 'b7ad6b7169203331'
const RECEIVED = `00-${TRACE}-${CLIENT}-01`
const CANARY = 'canary-5f1d'

const ignore = () => undefined
const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }
const open: PerdureServer[] = []
let exporter: InMemorySpanExporter

beforeEach(() => {
  exporter = new InMemorySpanExporter()
  trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }))
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
})

afterEach(async () => {
  for (const server of open.splice(0)) await server.stop({ force: true })
  trace.disable()
  context.disable()
})

const sent: McpCall[] = []
const mcp: McpClient = {
  tools: async () => [{ name: 'read', inputSchema: { type: 'object' } }],
  async call(_, call) {
    sent.push(call)
    return { ok: false, error: { kind: 'timeout', message: CANARY } }
  },
  status: () => 'disconnected',
  disconnect: async () => undefined,
  close: async () => undefined,
}

async function serve({ config, adapters, ...rest }: ServerOptions) {
  const server = await createServer({
    config: { auth: { kind: 'none' }, telemetry: { traces: true }, ...config, server: { port: 0 } },
    adapters: { storage: createInMemoryStorage(), logger, mcp, ...adapters },
    mcpServers: [{ id: 'files', url: 'https://files.example/' }],
    ...rest,
  })
  open.push(server)
  const { host, port, basePath } = await server.start()
  const url = `http://${host}:${port}${basePath}`
  const post = (path: string, body: unknown) =>
    fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', traceparent: RECEIVED, authorization: `Bearer ${CANARY}` },
      body: JSON.stringify(body),
    })
  return { server, post, get: (path: string) => fetch(url + path) }
}

const idOf = (span: ReadableSpan) => span.spanContext().spanId
const isError = ({ status }: ReadableSpan) => status.code === SpanStatusCode.ERROR
const spansOf = (parent: string | undefined) =>
  exporter.getFinishedSpans().filter(({ parentSpanContext }) => parentSpanContext?.spanId === parent)

/** The finished spans below a span, as a tree of names, with the error type of failed ones. */
const treeOf = (parent: string): unknown[] =>
  spansOf(parent)
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .map((span) => {
      const title = isError(span) ? `${span.name}: ${span.attributes['error.type']}` : span.name
      const below = treeOf(idOf(span))
      return below.length === 0 ? title : [title, ...below]
    })

const agentOf = (id: string, run: (context: RunContext) => Promise<unknown>) => ({
  ...{
    id,
    description: 'Runs the code of the test.',
    agent: { id, run: (_: unknown, given: RunContext) => run(given) },
  },
})

const helper = agentOf('helper', async ({ tool }) => {
  await tool({
    name: 'pay',
    args: { card: CANARY },
    execute: () => {
      throw new Error(CANARY)
    },
  })
})

describe('a trace', () => {
  it('connects request, run, steps, tools, MCP calls and child runs, and contains no payload', async () => {
    const traceparents: (string | undefined)[] = []
    const agent = agentOf('lead', async ({ traceparent, step, tool, stream, mcp: servers, invoke, emit }) => {
      traceparents.push(traceparent)
      trace.getTracer('own').startSpan('ask the model').end()
      await emit('note', { text: CANARY })
      await step('look up', async () => {
        await null
        trace.getTracer('own').startSpan('query').end()
        return CANARY
      })
      await tool({ name: 'add', args: CANARY, execute: () => CANARY })
      await stream('ask', () => ReadableStream.from([CANARY]), { provider: 'openai', model: 'm', input: CANARY })
      await servers.call('files', 'read', { path: CANARY })
      await invoke('helper', CANARY)
      throw Object.assign(new Error(CANARY), { code: 'out-of-luck' })
    })
    const { post } = await serve({ agents: [agent, helper] })

    const answer = await post('/agents/lead/run?', { input: CANARY, metadata: { note: CANARY }, userId: CANARY })
    await expect.poll(() => spansOf(CLIENT)).toHaveLength(1)

    expect(answer.status).toBe(200)
    expect(treeOf(CLIENT)).toEqual([
      [
        'POST /v1/agents/:agentId/run',
        [
          'invoke_agent lead: out-of-luck',
          'ask the model',
          'chat m',
          'execute_tool add',
          ['invoke_agent helper', 'execute_tool pay: execution_failed'],
          ['step files.read', 'tools/call read: timeout'],
          ['step look up', 'query'],
        ],
      ],
    ])
    const run = exporter.getFinishedSpans().find(({ name }) => name === 'invoke_agent lead')
    const call = exporter.getFinishedSpans().find(({ name }) => name === 'tools/call read')
    expect(traceparents).toEqual([`00-${TRACE}-${run?.spanContext().spanId}-01`])
    expect(sent.at(-1)?.traceparent).toBe(`00-${TRACE}-${call?.spanContext().spanId}-01`)
    const exported = exporter
      .getFinishedSpans()
      .map(({ name, attributes, events, status, links }) => ({ name, attributes, events, status, links }))
    expect(JSON.stringify(exported)).not.toContain(CANARY)
  })

  it('contains what models are asked and answer if tracing.recordContent is set', async () => {
    const agent = agentOf('asks', ({ stream }) =>
      stream('ask', () => ReadableStream.from(['It is sunny.']), { model: 'm', input: 'How is it?' }),
    )
    const { post } = await serve({ agents: [agent], config: { tracing: { recordContent: true } } })
    await post('/agents/asks/run', {})

    await expect.poll(() => exporter.getFinishedSpans().map(({ name }) => name)).toContain('chat m')
    const { attributes } = exporter.getFinishedSpans().find(({ name }) => name === 'chat m') ?? {}
    expect(attributes?.['gen_ai.input.messages']).toContain('How is it?')
    expect(attributes?.['gen_ai.output.messages']).toContain('It is sunny.')
  })

  it('continues in the process that recovers the run after a crash', async () => {
    const storage: Storage = createInMemoryStorage()
    let isHeld = true
    const flow = {
      id: 'flow',
      description: 'Makes two steps.',
      workflow: {
        id: 'flow',
        async execute(_: unknown, { step }: RunContext) {
          await step('first', () => 1)
          return step('second', () => (isHeld ? new Promise(() => undefined) : 2))
        },
      },
    }
    const first = await serve({ workflows: [flow], adapters: { storage } })
    const { runId } = (await (await first.post('/workflows/flow/execute', {})).json()) as { readonly runId: string }
    await expect.poll(() => exporter.getFinishedSpans().map(({ name }) => name)).toContain('step first')

    isHeld = false
    const second = await serve({ workflows: [flow], adapters: { storage } })
    await expect.poll(async () => (await second.get(`/runs/${runId}`)).json()).toMatchObject({ status: 'completed' })

    const run = exporter.getFinishedSpans().find(({ attributes }) => attributes['perdure.run.attempt'] === 2)
    const request = exporter.getFinishedSpans().find(({ name }) => name === 'POST /v1/workflows/:workflowId/execute')
    expect(run).toMatchObject({
      name: 'invoke_workflow flow',
      parentSpanContext: request?.spanContext() && { spanId: idOf(request) },
    })
    expect(run?.spanContext().traceId).toBe(TRACE)
  })

  it('includes a trigger firing and the run that it starts', async () => {
    const triggers = [
      { id: 'often', kind: 'interval' as const, intervalMs: 86_400_000, target: { agentId: 'helper', input: CANARY } },
    ]
    const { post } = await serve({ agents: [helper], triggers })

    await post('/triggers/often/fire', {})
    await expect.poll(() => exporter.getFinishedSpans().map(({ name }) => name)).toContain('invoke_agent helper')

    await expect
      .poll(() => treeOf(CLIENT))
      .toEqual([
        [
          'POST /v1/triggers/:triggerId/fire',
          ['fire often', ['invoke_agent helper', 'execute_tool pay: execution_failed']],
        ],
      ])
  })

  it('marks server errors as failed spans, but not client errors', async () => {
    const { post, get } = await serve({ adapters: { storage: brokenStorage() } })

    await post('/agents/nobody/run', {})
    await get('/sessions')

    const requests = exporter
      .getFinishedSpans()
      .map((span) => [
        ...[span.name, isError(span), span.attributes['http.response.status_code'], span.attributes['error.type']],
      ])
    expect(requests).toEqual([
      ['POST /v1/agents/:agentId/run', false, 404, 'agent-not-found'],
      ['GET /v1/sessions', true, 500, 'internal-error'],
    ])
  })
})

function brokenStorage(): Storage {
  const storage = createInMemoryStorage()
  return { ...storage, sessions: { ...storage.sessions, list: () => Promise.reject(new Error(CANARY)) } }
}

describe('tracing without telemetry.traces', () => {
  it('creates no span, even if a tracer provider is registered', async () => {
    const { post } = await serve({ agents: [helper], config: { telemetry: { traces: false } } })

    expect((await post('/agents/helper/run', {})).status).toBe(200)

    expect(exporter.getFinishedSpans()).toEqual([])
  })

  it('starts no span for a request and a run', async () => {
    const asked: string[] = []
    const start = (name: string) => {
      asked.push(name)
      return noTracer.start('step', {}, undefined)
    }
    const { post } = await serve({ agents: [helper], adapters: { tracer: { ...noTracer, start } } })

    await post('/agents/helper/run', {})

    expect(asked).toEqual([])
  })
})

describe('tracing during shutdown', () => {
  it('flushes buffered spans, including the spans of the last runs', async () => {
    const flushed: unknown[] = []
    const keeping: SpanProcessor = {
      onStart: ignore,
      onEnd: ignore,
      forceFlush: async () =>
        void flushed.push(
          exporter
            .getFinishedSpans()
            .map(({ name }) => name)
            .sort(),
        ),
      shutdown: async () => undefined,
    }
    trace.disable()
    const recording = new SimpleSpanProcessor({ exporter })
    trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [recording, keeping] }))
    const started = Promise.withResolvers<void>()
    const held = agentOf('held', async ({ signal }) => {
      started.resolve()
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    })
    const { server, post } = await serve({ agents: [held] })
    const answer = post('/agents/held/run', {})
    await started.promise

    await server.stop({ force: true })

    expect((await answer).status).toBe(200)
    expect(flushed).toEqual([['POST /v1/agents/:agentId/run', 'invoke_agent held']])
  })

  it('does not wait for a flush that hangs', async () => {
    const tracer = { ...noTracer, flush: () => new Promise<never>(() => undefined) }
    const { server } = await serve({ adapters: { tracer } })

    await server.stop()
  })
})
