import type { AgentContext } from '@perdure/core'
import { describe, expect, it } from 'vitest'
import { served } from '../../test/served.ts'

const sending = Promise.withResolvers<string>()
const CODE: Readonly<Record<string, (context: AgentContext) => Promise<unknown>>> = {
  completes: async () => 'done',
  naps: ({ sleep }) => sleep('nap', 300).then(() => 'rested'),
  asks: ({ approval }) => approval('go on').then(() => sending.promise),
  pauses: async ({ suspend }) => suspend({ approvals: [], state: null }),
  fails: () => Promise.reject(new Error('no')),
}

const agents = Object.entries(CODE).map(([id, code]) => ({
  ...{ id, description: id },
  agent: { id, run: (_: unknown, context: AgentContext) => code(context) },
}))

describe('perdure agents run', () => {
  const { openTerminal, perdureOn, perdure } = served({ agents })
  const run = (...args: readonly string[]) => perdure('agents', 'run', ...args)

  it.each([
    ['completes', 0, /· run\.completed\n✓ /],
    ['naps', 0, /· run\.completed\n✓ /],
    ['fails', 1, /✗ run_\w+ {2}failed/],
    [
      'asks',
      3,
      /waiting for "go on": perdure approvals approve \S+\n {2}not finished: perdure runs tail run_\w+ --follow\n/,
    ],
    ['pauses', 3, /… run_\w+ {2}suspended\n {2}not finished: perdure runs tail run_\w+ --follow\n/],
  ])('runs an agent that %s and exits with %i, with and without --stream', async (agent, exitCode, streamed) => {
    const ran = await run(agent, '--stream')

    expect([(await run(agent)).exitCode, (await run(agent, '--json')).exitCode]).toEqual([exitCode, exitCode])
    expect(ran.exitCode).toBe(exitCode)
    expect(ran.err).toMatch(streamed)
  })

  it('prints how to approve a waiting run, and its result when the command is repeated with the same key', async () => {
    const request = ['asks', '--idempotency-key', 'mail-7']
    const waiting = await run(...request)
    const [, approve = ''] = waiting.err.match(/perdure (approvals approve \S+)/) ?? []
    await perdure(...approve.split(' '))

    expect(waiting.out).toMatch(/^run_\w+ {2}suspended\n$/)
    const terminal = openTerminal()
    const streamed = perdureOn(terminal, 'agents', 'run', ...request, '--stream')
    await expect.poll(terminal.err).toMatch(/run\.suspended[\s\S]+run\.resumed/)
    sending.resolve('sent')
    expect(await streamed).toMatchObject({ exitCode: 0, err: expect.stringContaining('completed') })
    expect(await run(...request)).toMatchObject({ exitCode: 0, out: 'sent\n' })
  })

  it('suggests a registered agent for an unknown one', async () => {
    expect((await run('complets')).err).toContain('hint: Did you mean completes?')
    expect((await run('nothing-like-it')).err).toContain('hint: perdure agents list')
  })

  it('exits 0 with --detach, whatever the outcome of the run', async () => {
    expect((await run('asks', '--detach')).exitCode).toBe(0)
    expect((await run('fails', '--detach')).exitCode).toBe(0)
  })
})
