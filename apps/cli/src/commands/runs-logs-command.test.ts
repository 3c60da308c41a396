import type { RunContext } from '@perdure/core'
import { describe, expect, it } from 'vitest'
import { served } from '../../test/served.ts'

const gate = Promise.withResolvers<void>()

const agents = [
  {
    id: 'talks',
    description: 'Logs three lines.',
    agent: {
      id: 'talks',
      async run(isHeld: unknown, { log }: RunContext) {
        log.info('looked up', { ticket: 17 })
        if (isHeld === true) await gate.promise
        log.warn('card declined\u001b[2J')
        log.error('gave up', new TypeError('no card'))
      },
    },
  },
]

describe('perdure runs logs', () => {
  const { openTerminal, perdureOn, perdure } = served({ agents })
  const lastRun = async () => (await perdure('runs', 'list', '--json=id')).out.match(/run_\w+/)?.[0] ?? ''

  it('shows the lines of a run, of a level or more severe', async () => {
    await perdure('agents', 'run', 'talks')
    const runId = await lastRun()

    const all = await perdure('runs', 'logs', runId, '--format', 'table')
    expect(all.out).toMatch(
      /^\S+ {2}info {3}looked up {2}\{"ticket":17\}\n\S+ {2}warn {3}card declined\n\S+ {2}error {2}gave up {2}\{"error":"TypeError: no card"\}\n$/,
    )
    const severe = await perdure('runs', 'logs', runId, '--level', 'warn', '--json')
    expect(
      severe.out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).message),
    ).toEqual(['card declined\u001b[2J', 'gave up'])
  })

  it('follows the lines of a run until it ends', async () => {
    const started = await perdure('agents', 'run', 'talks', '--input', 'true', '--detach', '--json')
    const { runId } = JSON.parse(started.out) as { readonly runId: string }
    const terminal = openTerminal()
    const followed = perdureOn(terminal, 'runs', 'logs', runId, '--follow', '--format', 'table')
    await expect.poll(terminal.out).toContain('looked up')
    gate.resolve()

    expect((await followed).out).toMatch(/looked up[\s\S]*card declined[\s\S]*gave up/)
  })

  it('also shows the lines in the tail of the run', async () => {
    await perdure('agents', 'run', 'talks')

    expect((await perdure('runs', 'tail', await lastRun(), '--format', 'table')).out).toMatch(
      /run\.started[\s\S]*\n\S+ {2}warn {3}card declined\n[\s\S]*run\.completed/,
    )
  })
})
