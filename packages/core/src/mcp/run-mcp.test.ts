import { createInMemoryMeter } from '@perdure/in-memory'
import { perdureError } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import type { RunRequestBody } from '../engine/start-run.ts'
import { agentOf, createTestEngine } from '../engine/test-engine.fixture.ts'
import type { RunContext } from '../targets/run-context.ts'
import { createMcpWorld } from './mcp.fixture.ts'
import { createMcpService } from './mcp.ts'

describe('ctx.mcp', () => {
  const run = async (
    code: (context: RunContext) => Promise<unknown>,
    over: Parameters<typeof createMcpWorld>[0] = {},
    body: RunRequestBody = {},
  ) => {
    const meter = createInMemoryMeter()
    const { parts, calls } = createMcpWorld(over)
    const mcpOf = createMcpService(parts)
    const engine = createTestEngine({
      agents: [agentOf('code', (_, context) => code(context))],
      services: (caller) => ({ mcp: mcpOf(caller) }),
      meter,
    })
    const { json = '' } = await engine.run('code', { body })
    const outcome = JSON.parse(json) as {
      status: string
      finishReason: string
      usage: object
      runId: string
      result?: unknown
      error?: { code?: string; message: string }
    }
    return { ...outcome, steps: await engine.storage.steps.list(outcome.runId), calls, meter }
  }

  it('counts tool calls but not listings in the budget of the run and in the tool metric', async () => {
    const code = async ({ mcp }: RunContext) => {
      await mcp.tools('files')
      await mcp.call('files', 'a')
      await mcp.call('nowhere', 'a')
      return mcp.call('files', 'a')
    }
    const { status, finishReason, usage, calls, meter } = await run(code, {}, { budget: { toolCalls: 2 } })

    expect({ status, finishReason, usage }).toMatchObject({
      ...{ status: 'failed', finishReason: 'budget-exhausted', usage: { toolCalls: 2 } },
    })
    expect(calls).toHaveLength(1)
    const counted = (tool: string, outcome: string) =>
      meter.values.get(`svc_tool_calls_total{tool="${tool}",outcome="${outcome}"}`)
    expect([counted('files.a', 'ok'), counted('nowhere.a', 'unknown_tool')]).toEqual([1, 1])
  })

  it('records each listing and each tool call as a step', async () => {
    const { result, steps, calls } = await run(async ({ mcp }) => [
      (await mcp.tools('files')).length,
      await mcp.call('files', 'a', { x: 1 }, { timeout: 5 }),
      await mcp.call('files', 'b'),
    ])

    expect(result).toEqual([2, { ok: true, value: { x: 1 } }, { ok: true, value: {} }])
    expect(steps.map(({ name, status }) => [name, status])).toEqual([
      ['mcp.tools', 'completed'],
      ['files.a', 'completed'],
      ['files.b', 'completed'],
    ])
    expect(calls[0]?.[1]).toMatchObject({ tool: 'a', timeoutMs: 5, signal: expect.any(AbortSignal) })
  })

  it('returns every failure as data, including an unknown server', async () => {
    const { result } = await run(
      async ({ mcp }) => [await mcp.call('unknown', 'a'), await mcp.call('files', 'a'), await mcp.call('down', 'a')],
      {
        call: async ({ id }) => {
          throw perdureError(id === 'down' ? 'mcp-server-unavailable' : 'mcp-tool-not-found', { message: id })
        },
      },
    )

    expect(result).toMatchObject([
      { ok: false, error: { kind: 'unknown_tool' } },
      { ok: false, error: { kind: 'unknown_tool', message: 'files' } },
      { ok: false, error: { kind: 'execution_failed', message: 'down' } },
    ])
  })

  it('rejects arguments that are not an object before it records a step', async () => {
    const { error, steps } = await run(({ mcp }) => mcp.call('files', 'a', [1] as never))

    expect([error?.code, steps]).toEqual(['validation-failed', []])
  })
})
