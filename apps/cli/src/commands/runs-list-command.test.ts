import { describe, expect, it } from 'vitest'
import { served } from '../../test/served.ts'

const agents = ['one', 'two'].map((id) => ({ id, description: id, agent: { id, run: async () => id } }))

describe('the filters of a list', () => {
  const { perdure } = served({ agents })
  const idsOf = async (...args: readonly string[]): Promise<readonly string[]> => {
    const { exitCode, out, err } = await perdure(...args, '--json')
    expect([exitCode, err]).toEqual([0, ''])
    return (JSON.parse(out).items as { readonly id: string }[]).map(({ id }) => id)
  }

  it('find the run that a key started', async () => {
    const start = async (...flags: readonly string[]): Promise<string> =>
      JSON.parse((await perdure('agents', 'run', 'one', '--json', ...flags)).out).runId
    const keyed = await start('--idempotency-key', 'order-17')
    await start()

    expect(await idsOf('runs', 'list', '--idempotency-key', 'order-17')).toEqual([keyed])
    expect(await idsOf('runs', 'list', '--idempotency-key', 'order-17', '--agent', 'two')).toEqual([])
    expect(await idsOf('runs', 'list', '--idempotency-key', 'order-18')).toEqual([])
  })

  it('find sessions by user, agent and metadata', async () => {
    const create = (body: object) => perdure('api', 'sessions.create', '--input', JSON.stringify(body))
    await create({ id: 'a', userId: 'ada', agentId: 'one', metadata: { ticket: '17', tier: 'gold' } })
    await create({ id: 'b', userId: 'ada', metadata: { ticket: '17' } })

    expect(await idsOf('sessions', 'list', '--user', 'ada')).toEqual(['b', 'a'])
    expect(await idsOf('sessions', 'list', '--agent', 'one')).toEqual(['a'])
    expect(await idsOf('sessions', 'list', '--metadata', 'ticket=17', '--metadata', 'tier=gold')).toEqual(['a'])
    expect(await idsOf('sessions', 'list', '--metadata', 'ticket=18')).toEqual([])
  })

  it('reject the same forms for sessions as for runs', async () => {
    for (const noun of ['runs', 'sessions']) {
      const { exitCode, err } = await perdure(noun, 'list', '--metadata', 'ticket')
      expect([exitCode, err.replaceAll(noun, 'noun')]).toEqual([2, expect.stringContaining('metadata')])
    }
  })
})
