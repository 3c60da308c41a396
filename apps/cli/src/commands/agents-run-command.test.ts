import type { RunContext } from '@perdure/core'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { served } from '../../test/served.ts'

const sending = Promise.withResolvers<string>()
const CODE: Readonly<Record<string, (context: RunContext) => Promise<unknown>>> = {
  completes: async () => 'done',
  naps: ({ sleep }) => sleep('nap', 300).then(() => 'rested'),
  asks: ({ approval }) => approval('go on').then(() => sending.promise),
  pauses: async ({ suspend }) => suspend({ approvals: [], state: null }),
  fails: () => Promise.reject(new Error('no')),
}

const Mail = v.object({ to: v.string(), copies: v.number(), note: v.optional(v.string()) })

const agents = Object.entries(CODE).map(([id, code]) => ({
  ...{ id, description: id },
  agent: { id, run: (_: unknown, context: RunContext) => code(context) },
}))

const mail = {
  ...{ id: 'mail', description: 'mail', input: Mail },
  agent: { id: 'mail', run: async (input: unknown) => input },
}

describe('perdure agents run', () => {
  const { openTerminal, perdureOn, perdure } = served({ agents: [...agents, mail] })
  const run = (...args: readonly string[]) => perdure('agents', 'run', ...args)

  it.each([
    ['completes', 0, /· run\.completed\n✓ /],
    ['naps', 0, /· run\.completed\n✓ /],
    ['fails', 1, /✗ run_\w+ {2}failed/],
    [
      'asks',
      3,
      /waiting for "go on": perdure approvals show \S+\n {2}to approve it: perdure approvals approve \S+\n {2}not finished: perdure runs tail run_\w+ --follow\n/,
    ],
    [
      'pauses',
      3,
      /… run_\w+ {2}suspended\n {2}waiting for resume\n {2}not finished: perdure runs tail run_\w+ --follow\n/,
    ],
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

  describe('an agent with an input schema', () => {
    const answering = (answer: string, ...args: readonly string[]) =>
      perdureOn({ ...openTerminal(), isInteractive: true, ask: ask(answer) }, 'agents', 'run', 'mail', ...args)
    const questions: string[] = []
    const ask = (answer: string) => async (question: string) => {
      questions.push(question)
      return answer
    }

    it('names the missing members, with an example, when nobody can answer a prompt', async () => {
      const { exitCode, err } = await run('mail', '--input', '{"to":"a"}')

      expect(exitCode).not.toBe(0)
      expect(err).toContain(`hint: the input lacks copies: perdure agents run mail --input '{"copies":1}'`)
      expect((await run('mail')).err).toContain('the input lacks to, copies: ')
    })

    it('asks on a terminal for each missing member, and for no other', async () => {
      questions.splice(0)
      const { exitCode, out } = await answering('7', '--input', '{"to":"a"}')

      expect(questions).toEqual(['copies (number): '])
      expect(exitCode).toBe(0)
      expect(JSON.parse(out)).toEqual({ to: 'a', copies: 7 })
    })

    it('uses an answer for a text unchanged, and rejects an answer for a number that is not JSON', async () => {
      expect(JSON.parse((await answering('7')).out)).toEqual({ to: '7', copies: 7 })
      expect((await answering('many', '--input', '{"to":"a"}')).err).toContain('copies is not JSON: many')
    })

    it('asks nothing for a complete input or an agent without a schema', async () => {
      questions.splice(0)
      await answering('7', '--input', '{"to":"a","copies":1}')
      await perdureOn({ ...openTerminal(), isInteractive: true, ask: ask('x') }, 'agents', 'run', 'completes')

      expect(questions).toEqual([])
    })
  })

  it('exits 0 with --detach, whatever the outcome of the run', async () => {
    expect((await run('asks', '--detach')).exitCode).toBe(0)
    expect((await run('fails', '--detach')).exitCode).toBe(0)
  })
})
