import type { AgentDefinition } from '@perdure/core'
import { createInMemoryStorage } from '@perdure/in-memory'
import { createServer, type EmbeddedServer } from '@perdure/server-app'
import { runAgent } from '@perdure/server-app/testing'
import { describe, expect, it } from 'vitest'
import { agentOf } from '../chat-agent.ts'
import { cutAfter } from '../cut-storage.fixture.ts'
import { QUIET } from '../server.fixture.ts'
import { shownBy, textsOf } from '../transcript.fixture.ts'
import { fakeHarness } from './harness.fixture.ts'

describe('a registered HarnessAgent', () => {
  it('performs a turn as a step that is shown, counted and closed', async () => {
    const { agent, sessions, closed, prompts } = fakeHarness()
    const ended = await runAgent(agentOf(agent, sessions), { text: 'fix it' })
    expect(ended).toMatchObject({ result: { text: 'Done: fix it' }, usage: { inputTokens: 3, outputTokens: 2 } })
    expect(textsOf(ended)).toEqual(['Done: fix it'])
    expect([prompts(), closed]).toEqual([['fix it'], [{ sessionId: ended.runId, session: ended.runId }]])
    const usage = ended.events.filter(({ type }) => type === 'usage')
    expect(usage).toMatchObject([{ payload: { provider: 'fake', model: 'code-1' } }])
  })

  it.each([true, false])('asks a person in the middle of the turn, and tells the harness: %s', async (approved) => {
    const { agent, sessions, closed, prompts } = fakeHarness()
    const waiting = await runAgent(agentOf(agent, sessions), { text: 'deploy it' })
    expect(waiting.approvals).toMatchObject([{ name: 'deploy', payload: { to: 'production' } }])
    const ended = await waiting.decide('deploy', { approved })
    expect(ended.result).toEqual({ text: 'Done: deploy it' })
    expect(shownBy(ended).items).toMatchObject([
      { kind: 'tool', name: 'deploy', status: 'done', result: approved },
      { kind: 'approval' },
      { kind: 'text' },
    ])
    expect([prompts().length, closed.length]).toEqual([1, 2])
  })

  it('closes the session with the error of a failed turn', async () => {
    const { agent, sessions, closed } = fakeHarness()
    const failing = { ...agent, stream: () => Promise.reject(new Error('no sandbox')) }
    const ended = await runAgent(agentOf(failing, sessions), { text: 'fix it' })
    expect(ended.outcome.error?.message).toContain('no sandbox')
    expect(closed).toMatchObject([{ error: { message: 'no sandbox' } }])
  })

  it('needs to know how a session is opened and closed', () => {
    expect(() => agentOf(fakeHarness().agent as never)).toThrow('openSession')
  })
})

const request = (path: string, body?: object) =>
  new Request(`http://localhost/v1${path}`, {
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    headers: { 'content-type': 'application/json', 'idempotency-key': 'the-run' },
  })

interface Run {
  readonly runId: string
  readonly status: string
  readonly error?: { readonly code: string } | null
}

/** Starts the run unless it exists, and resolves with how it ends. */
async function endOf(server: EmbeddedServer): Promise<string> {
  const read = async (path: string, body?: object) => (await (await server.fetch(request(path, body))).json()) as Run
  const { runId } = await read('/agents/coder/stream', { input: { text: 'fix it' } })
  for (;;) {
    const { status, error } = await read(`/runs/${runId}`)
    if (status === 'completed' || status === 'failed') return error?.code ?? status
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

async function serverOf(agent: AgentDefinition, storage: ReturnType<typeof createInMemoryStorage>) {
  const server = await createServer({
    ...{ config: { auth: { kind: 'none' } }, adapters: { storage, logger: QUIET }, agents: [agent] },
  })
  await server.start({ listen: false })
  return server
}

describe.each([true, false])('a harness that can continue its turn: %s', (canContinue) => {
  it('gets no prompt twice, whenever the server stops', async () => {
    const statuses: string[] = []
    let continued = 0
    const whole = cutAfter(createInMemoryStorage(), Number.POSITIVE_INFINITY)
    const { agent, sessions } = fakeHarness()
    const uncut = await serverOf(agentOf(agent, sessions) as AgentDefinition, whole.storage)
    await endOf(uncut)
    await uncut.stop({ force: true })

    for (let at = 1; at <= whole.count(); at++) {
      const harness = fakeHarness({ canContinue })
      const registered = agentOf(harness.agent, harness.sessions) as AgentDefinition
      const storage = createInMemoryStorage()
      const dying = cutAfter(storage, at)
      const first = await Promise.race([serverOf(registered, dying.storage), dying.isCut])
      if (first !== undefined) void endOf(first).catch(() => undefined)
      await Promise.race([dying.isCut, new Promise((resolve) => setTimeout(resolve, 500))])
      const second = await serverOf(registered, storage)
      const ended = await endOf(second)
      await second.stop({ force: true })
      statuses.push(ended)
      continued += harness.continued()
      // The server can stop before the harness gets the prompt, and cannot know that it did not.
      expect(harness.prompts().length, `cut after commit ${at}`).toBeLessThanOrEqual(1)
      if (ended === 'completed') expect(harness.prompts()).toEqual(['fix it'])
    }
    expect(new Set(statuses)).toEqual(new Set(['completed', 'run-interrupted']))
    expect(continued > 0).toBe(canContinue)
  })
})
