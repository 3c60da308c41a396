import type { RunContext } from '@perdure/core'
import { describe, expect, it } from 'vitest'
import { served } from '../../test/served.ts'

const CODE: Readonly<Record<string, (context: RunContext) => Promise<unknown>>> = {
  completes: async () => 'done',
  naps: ({ sleep }) => sleep('nap', 300).then(() => 'rested'),
  asks: ({ approval }) => approval('go on'),
  fails: () => Promise.reject(new Error('no')),
  hangs: () => new Promise(() => undefined),
}

const workflows = Object.entries(CODE).map(([id, code]) => ({
  ...{ id, description: id },
  workflow: { id, execute: (_: unknown, context: RunContext) => code(context) },
}))

describe('perdure workflows run', () => {
  const { perdure } = served({ workflows })
  const run = (...args: readonly string[]) => perdure('workflows', 'run', ...args)

  it.each([
    ['completes', 0, 'done\n'],
    ['naps', 0, 'rested\n'],
    ['fails', 1, /^run_\w+ {2}failed\n$/],
    ['asks', 3, /^run_\w+ {2}suspended\n$/],
  ])('waits for a workflow that %s and exits %i', async (workflow, exitCode, out) => {
    const ran = await run(workflow, '--wait', '10m')

    expect(ran.exitCode).toBe(exitCode)
    expect(ran.out).toMatch(out)
  })

  it('exits 3 when the time of --wait has passed, leaves the run alone and prints how to follow the run', async () => {
    const { exitCode, out, err } = await run('hangs', '--wait', '50ms')

    expect(exitCode).toBe(3)
    expect(out).toMatch(/^run_\w+ {2}running\n$/)
    expect(err).toMatch(/not finished: perdure runs tail run_\w+ --follow/)
  })

  it('prints the result of an approved run when the command is repeated with the same key', async () => {
    const request = ['asks', '--wait', '10m', '--idempotency-key', 'k']
    const waiting = await run(...request)
    const [, approve = ''] = waiting.err.match(/perdure (approvals approve \S+)/) ?? []
    await perdure(...approve.split(' '))

    const ended = await run(...request)

    expect([waiting.exitCode, ended.exitCode]).toEqual([3, 0])
    expect(JSON.parse(ended.out)).toMatchObject({ approved: true })
  })

  it('exits 0 without --wait, whatever the outcome of the run', async () => {
    expect((await run('hangs')).exitCode).toBe(0)
    expect((await run('fails', '--json')).exitCode).toBe(0)
  })
})
