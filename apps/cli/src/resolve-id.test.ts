import type { RunContext } from '@perdure/core'
import { describe, expect, it } from 'vitest'
import { served } from '../test/served.ts'
import { createdBetween } from './resolve-id.ts'

const agents = [
  ...['one', 'two'].map((id) => ({ id, description: id, agent: { id, run: async () => id } })),
  {
    id: 'parent',
    description: 'Runs a child.',
    agent: { id: 'parent', run: (_: unknown, { invoke }: RunContext) => invoke('one', {}) },
  },
  { id: 'asks', run: (_: unknown, ctx: RunContext) => ctx.approval('go on', { title: 'Go on?' }) },
]

describe('the id of a run', () => {
  const { perdure } = served({ agents })
  const start = async (agent: string): Promise<string> =>
    JSON.parse((await perdure('agents', 'run', agent, '--json')).out).runId
  const show = async (id: string) => {
    const { exitCode, out, err } = await perdure('runs', 'show', id, '--json=id')
    return { exitCode, err, ...(JSON.parse(out) as { readonly id?: string }) }
  }

  it('may be shortened as long as only one run begins like that', async () => {
    const [first, second] = [await start('one'), await start('two')]
    let shared = 0
    while (first[shared] === second[shared]) shared++

    expect(await show(first.slice(0, shared + 1))).toMatchObject({ exitCode: 0, id: first })
    expect(await show(second.slice(0, shared + 1))).toMatchObject({ exitCode: 0, id: second })
    expect(await show(first)).toMatchObject({ id: first })
    const ambiguous = await show(first.slice(0, shared))
    expect(ambiguous).toMatchObject({ exitCode: 2, err: expect.stringMatching(/is the beginning of \d+ run ids\n/) })
    expect(ambiguous.err).toContain(first)
    expect(ambiguous.err).toContain(second)
  })

  it('may be shortened to any length, also where the beginning has no digit of a time', async () => {
    const id = await start('one')

    for (let length = 'run_'.length + 1; length < id.length; length++) {
      const { exitCode, id: shown, err } = await show(id.slice(0, length))
      if (exitCode === 0) expect(shown).toBe(id)
      else expect(err).toContain('is the beginning of')
    }
    expect(await show(`${id.slice(0, -1)}i`)).toMatchObject({ exitCode: 1 })
    expect(createdBetween('run_I')).toEqual({})
    expect(createdBetween('run_7ZZZZZZZZ')).not.toHaveProperty('until')
  })

  it('is looked up only among the runs that were created at the time in its beginning', () => {
    const at = Date.parse('2026-03-04T05:06:07.890Z')
    const digits = (BigInt(at) << 80n).toString(2).padStart(130, '0')
    const id = `run_${digits
      .match(/.{5}/g)
      ?.map((bits) => '0123456789ABCDEFGHJKMNPQRSTVWXYZ'[Number(`0b${bits}`)])
      .join('')}`

    for (const [length, widthMs] of [
      [14, 0],
      [12, 1_023],
      [8, 34_359_738_367 / 32],
    ] as const) {
      const { since = '', until = '' } = createdBetween(id.slice(0, length))
      expect(Date.parse(since)).toBeLessThanOrEqual(at)
      expect(Date.parse(until)).toBeGreaterThan(at)
      expect(Date.parse(until) - Date.parse(since)).toBeLessThanOrEqual(widthMs + 121_000)
    }
  })

  it('may be shortened or last in a flag', async () => {
    const { out } = await perdure('approvals', 'list', '--run', 'last', '--json')
    expect(JSON.parse(out)).toEqual({ items: [], nextCursor: null })
    await perdure('api', 'sessions.create', '--input', '{}')
    const run = JSON.parse((await perdure('sessions', 'list', '--json')).out).items[0].id as string
    await perdure('agents', 'run', 'one', '--session', run)

    for (const session of ['last', run.slice(0, 12)]) {
      const listed = await perdure('runs', 'list', '--session', session, '--json')
      expect(JSON.parse(listed.out).items).toEqual([expect.objectContaining({ sessionId: run })])
    }
  })

  it('may be last, for the newest run', async () => {
    await start('one')
    const newest = await start('two')

    expect(await show('last')).toMatchObject({ exitCode: 0, id: newest })
    expect((await perdure('runs', 'trace', 'last')).out).toMatch(/^two +agent /m)
  })

  it('is last for the newest run that is not a child', async () => {
    const parent = await start('parent')

    expect(await show('last')).toMatchObject({ exitCode: 0, id: parent })
  })

  it('is last for the newest pending approval, whose title the command prints', async () => {
    const ask = async (): Promise<string> => {
      const runId = JSON.parse((await perdure('agents', 'run', 'asks', '--json')).out).runId
      return JSON.parse((await perdure('approvals', 'list', '--run', runId, '--json')).out).items[0].id
    }
    const [older, newer] = [await ask(), await ask()]

    expect((await perdure('approvals', 'deny', newer)).out).toBe(`denied ${newer}  Go on?\n`)
    expect((await perdure('approvals', 'approve', 'last')).out).toBe(`approved ${older}  Go on?\n`)
    expect(JSON.parse((await perdure('approvals', 'show', 'last', '--json')).out)).toMatchObject({ id: newer })
  })

  it('is rejected when it is empty', async () => {
    const { exitCode, err } = await perdure('runs', 'show', '')

    expect([exitCode, err]).toEqual([2, expect.stringContaining('the run id is empty')])
  })

  it('is rejected by the server when no run begins like that', async () => {
    for (const id of ['run_ZZZ', 'run_', 'nope']) {
      expect(await show(id)).toMatchObject({ exitCode: 1, err: expect.stringContaining('error[run-not-found]') })
    }
  })
})
