import { describe, expect, it } from 'vitest'
import { served } from '../test/served.ts'

const agents = ['one', 'two'].map((id) => ({ id, description: id, agent: { id, run: async () => id } }))

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

  it('may be last, for the newest run', async () => {
    await start('one')
    const newest = await start('two')

    expect(await show('last')).toMatchObject({ exitCode: 0, id: newest })
    expect((await perdure('runs', 'trace', 'last')).out).toMatch(/^two +agent /m)
  })

  it('is rejected by the server when no run begins like that', async () => {
    for (const id of ['run_ZZZ', 'run_', 'nope']) {
      expect(await show(id)).toMatchObject({ exitCode: 1, err: expect.stringContaining('error[run-not-found]') })
    }
  })
})
