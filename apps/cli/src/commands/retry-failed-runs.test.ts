import { describe, expect, it } from 'vitest'
import { served } from '../../test/served.ts'

const broken = {
  id: 'broken',
  description: 'Always fails.',
  agent: {
    id: 'broken',
    async run() {
      throw new Error('no')
    },
  },
}

describe('perdure runs retry with filters', () => {
  const { perdure } = served({ agents: [broken] })
  const retry = async (...flags: readonly string[]) =>
    JSON.parse((await perdure('runs', 'retry', '--status', 'failed', '--yes', '--json', ...flags)).out)
  const runs = async () => JSON.parse((await perdure('runs', 'list', '--status', 'failed', '--json')).out).items

  it('retries no run twice when it is repeated, although the retries fail too', async () => {
    for (let n = 0; n < 3; n++) await perdure('agents', 'run', 'broken')

    expect(await retry()).toEqual({ retried: 3, refused: [] })
    await expect.poll(runs).toHaveLength(6)
    expect(await retry()).toEqual({ retried: 3, refused: [] })

    expect(await runs()).toHaveLength(6)
    expect(await retry('--forks')).toEqual({ retried: 6, refused: [] })
    await expect.poll(runs).toHaveLength(9)
  })
})
