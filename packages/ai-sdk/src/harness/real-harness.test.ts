import { runAgent } from '@perdure/server-app/testing'
import { describe, expect, it } from 'vitest'
import { agentOf } from '../chat-agent.ts'
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
})
