import type { RunContext } from '@perdure/core'
import { describe, expect, it } from 'vitest'
import { served } from '../../test/served.ts'

const workflows = [
  {
    id: 'order',
    description: 'Charges and ships.',
    workflow: {
      id: 'order',
      async execute(_: unknown, { step }: RunContext) {
        const charge = await step('charge', () => 'charged')
        return [charge, await step('ship', () => 'shipped')]
      },
    },
  },
]

describe('perdure runs', () => {
  const { perdure } = served({ workflows })
  const showLast = async () => JSON.parse((await perdure('runs', 'show', 'last', '--json')).out)

  it('forks a run with the given results of its calls', async () => {
    await perdure('workflows', 'run', 'order')
    const source = await showLast()

    const forked = await perdure('runs', 'fork', source.id, '--from', '2', '--result', '1={"paid":"a=b"}', '--json')

    expect(forked.err).toBe('')
    const { runId } = JSON.parse(forked.out)
    await expect
      .poll(async () => JSON.parse((await perdure('runs', 'show', runId, '--json')).out).result)
      .toEqual([{ paid: 'a=b' }, 'shipped'])
  })

  it('lists runs by metadata', async () => {
    const body = { metadata: { ticket: '17', tier: 'gold' } }
    await perdure('api', 'workflows.execute', '-f', 'workflowId=order', '--input', JSON.stringify(body))
    const list = async (tier: string) => {
      const { out } = await perdure('runs', 'list', '--metadata', 'ticket=17', '--metadata', `tier=${tier}`, '--json')
      return JSON.parse(out).items
    }

    expect(await list('gold')).toEqual([expect.objectContaining({ metadata: body.metadata })])
    expect(await list('silver')).toEqual([])
    expect((await perdure('runs', 'list', '--metadata', 'ticket')).err).toContain('It must look like key=value.')
  })
})
