import type { LogEvent } from '@perdure/core'
import type { RunRecord } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { readTranscript } from '../mcp/read-transcript.ts'
import type { OpenaiDeps } from '../openai/openai-call.ts'
import { readResponse } from '../openai/response-reader.ts'
import { logOf } from '../run-logs/events.fixture.ts'
import { createFoldCache } from './fold-cache.ts'

const run = {
  ...{ id: 'run_0', kind: 'agent', targetId: 'a', status: 'running', createdAt: 0, input: '"hello"', metadata: {} },
} as unknown as RunRecord

/** Everything that folds the log of a run for a client that polls. */
const POLLS: Readonly<Record<string, (deps: OpenaiDeps, charge: (bytes: number) => void) => Promise<unknown>>> = {
  'a response of OpenAI': (deps, charge) => readResponse(deps, { run, segment: 1 }, charge),
  'a task of MCP': (deps, charge) => readTranscript(deps, run, charge),
}

const said = (count: number) =>
  logOf([
    ['run.started', { status: 'running', attempt: 1 }],
    ...Array.from({ length: count }, (_, n): readonly [string, unknown] => [
      'text.delta',
      { messageId: 'm', delta: `piece ${n} ` },
    ]),
  ])

function setUp() {
  let log: readonly LogEvent[] = said(1_000)
  let trimmedThrough = 0
  let rendered = 0
  const deps = {
    events: {
      head: async () => ({ epoch: 'e', trimmedThrough }),
      async read(_: unknown, { after, limit }: { readonly after: number; readonly limit: number }) {
        return log
          .slice(after, after + limit)
          .map((event, index) => ({ ...event, position: after + index + 1, payload: JSON.stringify(event) }))
      },
    },
    render({ payload }: { readonly payload: string }) {
      rendered += 1
      return payload
    },
    targets: { find: () => undefined },
    yieldTurn: async () => undefined,
    foldCache: createFoldCache(10_000_000),
    ...{ basePath: '/v1', maxAnswerBytes: 8_000_000 },
  } as unknown as OpenaiDeps
  return {
    /** How many events a poll renders, and what it shows and costs. */
    async poll(read: (typeof POLLS)[string]) {
      rendered = 0
      let charged = 0
      const charge = (bytes: number) => {
        charged += bytes
      }
      const shown = JSON.stringify(await read(deps, charge))
      return { shown, rendered, charged }
    },
    say(count: number) {
      log = said(count)
    },
    trim() {
      trimmedThrough += 1
    },
  }
}

describe.each(Object.entries(POLLS))('a repeated poll of %s', (_, read) => {
  it('folds only the events since the last poll, and shows all of them', async () => {
    const { poll, say } = setUp()
    const first = await poll(read)
    const unchanged = await poll(read)
    say(1_010)
    const later = await poll(read)

    expect([first.rendered, unchanged.rendered, later.rendered]).toEqual([1_001, 0, 10])
    expect(unchanged.shown).toBe(first.shown)
    expect(later.shown).toContain('piece 0 ')
    expect(later.shown).toContain('piece 1009 ')
    expect(unchanged.charged).toBeLessThan(first.charged)
  })

  it('folds the whole log again after events were deleted', async () => {
    const { poll, trim } = setUp()
    await poll(read)
    trim()

    expect((await poll(read)).rendered).toBe(1_001)
  })
})
