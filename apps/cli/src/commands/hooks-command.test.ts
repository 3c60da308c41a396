import { describe, expect, it } from 'vitest'
import { served } from '../../test/served.ts'

const echo = { id: 'echo', description: '', agent: { id: 'echo', run: async (input: unknown) => input } }
const hook = (id: string) => ({ id, verify: () => ({ deliveryId: id }), to: { agent: 'echo' } })

describe('perdure hooks', () => {
  const { perdure } = served({ agents: [echo] }, { webhooks: { in: [hook('github'), hook('shop')] } })

  it.each([
    ['deliveries', 'githib'],
    ['deliveries', 'githib', '--status', 'dead'],
    ['test', 'githib'],
    ['replay', 'githib', 'hkd_1'],
  ])('%s names the hooks that exist if the id is wrong', async (...args) => {
    const { exitCode, out, err } = await perdure('hooks', ...args)

    expect([exitCode, out]).toEqual([1, ''])
    expect(err).toContain('error[hook-not-found]: no hook githib\n  hint: hooks: github, shop\n')
  })

  it('list no deliveries of a hook that has received none', async () => {
    expect(await perdure('hooks', 'deliveries', 'github')).toMatchObject({ exitCode: 0, out: 'nothing to show\n' })
  })
})
