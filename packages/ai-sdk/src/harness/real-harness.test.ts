import { createInMemoryStorage } from '@perdure/in-memory'
import { runAgent } from '@perdure/server-app/testing'
import { describe, expect, it } from 'vitest'
import { agentOf } from '../chat-agent.ts'
import { cutAfter } from '../cut-storage.fixture.ts'
import { serverWith } from '../server.fixture.ts'
import { shownBy, textsOf } from '../transcript.fixture.ts'
import { realHarness } from './real-harness.fixture.ts'

describe('the HarnessAgent of the published package', () => {
  it('performs a turn as a step that is shown and counted', async () => {
    const { agent, sessions, runtime } = realHarness()
    const ended = await runAgent(agentOf(agent, sessions), { text: 'fix it' })
    expect([ended.outcome.error, ended.result]).toEqual([undefined, { text: 'Done: fix it' }])
    expect(ended.usage).toMatchObject({ inputTokens: 3, outputTokens: 2 })
    expect(textsOf(ended)).toEqual(['Done: fix it'])
    expect([runtime.started, runtime.continued]).toEqual([1, 0])
  })

  it.each([
    [true, undefined, '"deployed to production"', { status: 'done', result: 'deployed to production' }],
    [false, 'not today', '{"type":"execution-denied","reason":"not today"}', { status: 'denied' }],
  ])('asks a person in the middle of the turn, and tells the harness: %s', async (approved, reason, told, shown) => {
    const { agent, sessions, runtime } = realHarness()
    const waiting = await runAgent(agentOf(agent, sessions), { text: 'deploy it' })
    expect([waiting.outcome.error, waiting.approvals]).toMatchObject([
      undefined,
      [{ name: 'deploy', payload: { to: 'production' } }],
    ])
    const ended = await waiting.decide('deploy', { approved, ...(reason === undefined ? {} : { reason }) })
    expect([ended.outcome.error, ended.result]).toEqual([undefined, { text: `Done: ${told}` }])
    expect(shownBy(ended).items).toMatchObject([
      { kind: 'tool', name: 'deploy', ...shown },
      { kind: 'approval' },
      { kind: 'text', text: `Done: ${told}` },
    ])
    expect([runtime.started, runtime.continued]).toEqual([1, 1])
  })

  it('starts no turn twice after a crash, and repeats at most the tool that it cut off: the run completes, or fails if the harness lost the turn', async () => {
    const whole = cutAfter(createInMemoryStorage(), Number.POSITIVE_INFINITY)
    const uncut = realHarness()
    const ended = await deployWith(uncut, whole.storage)
    expect([ended.status, uncut.runtime.deployed]).toEqual(['completed', 1])

    const statuses: string[] = []
    for (let at = 1; at < whole.count(); at++) {
      const harness = realHarness()
      const storage = createInMemoryStorage()
      const dying = cutAfter(storage, at)
      await Promise.race([deployWith(harness, dying.storage).catch(() => undefined), dying.isCut])
      const again = await deployWith(harness, storage)

      const context = `cut after commit ${at} of ${whole.count()}`
      if (again.status === 'failed') expect(again.error, context).toMatchObject({ code: 'run-interrupted' })
      else expect([again.status, again.result], context).toEqual(['completed', ended.result])
      expect(harness.runtime.started, context).toBeLessThanOrEqual(1)
      expect(harness.runtime.deployed, context).toBeLessThanOrEqual(2)
      statuses.push(again.status)
    }
    expect(new Set(statuses)).toEqual(new Set(['completed', 'failed']))
  })
})

interface Run {
  readonly runId: string
  readonly status: string
  readonly result?: unknown
  readonly error?: unknown
}

/** Starts the turn unless it exists, approves what it asks, and resolves with its end. */
async function deployWith({ agent, sessions }: ReturnType<typeof realHarness>, storage = createInMemoryStorage()) {
  const { get } = await serverWith([agentOf(agent, sessions)], storage)
  const start = { input: { text: 'deploy it' }, sessionId: 's1' }
  const { runId } = await get<Run>('/agents/coder/stream', start, { 'idempotency-key': 'the-turn' })
  for (;;) {
    const run = await get<Run>(`/runs/${runId}`)
    if (['completed', 'failed', 'aborted'].includes(run.status)) return run
    const { items } = await get<{ readonly items: readonly { readonly id: string }[] }>('/approvals?status=pending')
    for (const { id } of items) await get(`/approvals/${id}/resolve`, { approved: true })
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}
