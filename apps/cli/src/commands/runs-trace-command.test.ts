import type { RunContext } from '@perdure/core'
import { describe, expect, it } from 'vitest'
import { served } from '../../test/served.ts'
import type { Trace } from './build-trace.ts'

let tries = 0
const CODE: Readonly<Record<string, (context: RunContext) => Promise<unknown>>> = {
  async retries({ step }) {
    const flaky = () => {
      if (++tries % 3 !== 0) throw Object.assign(new Error('declined'), { code: 'card' })
    }
    await step('charge', flaky, { retries: { max: 2, delay: 1 } })
  },
  async tools({ tool }) {
    const broken = () => {
      throw new Error('no stock')
    }
    await tool({ name: 'pay', execute: () => 1 })
    await tool({ name: 'ship', execute: broken })
    throw new Error('no parcel')
  },
}
const agents = Object.entries(CODE).map(([id, run]) => ({
  ...{ id, description: id },
  agent: { id, run: (_: unknown, context: RunContext) => run(context) },
}))

describe('perdure runs trace', () => {
  const { perdure } = served({ agents })

  async function trace(agent: string): Promise<{ readonly lines: Trace['lines']; readonly text: string }> {
    const { runId } = JSON.parse((await perdure('agents', 'run', agent, '--json')).out)
    const { lines } = JSON.parse((await perdure('runs', 'trace', runId, '--json')).out)
    return { lines, text: (await perdure('runs', 'trace', runId)).out }
  }

  it('draws a bar for each try of a step, with the error of each failed try', async () => {
    const { lines, text } = await trace('retries')

    expect(lines.map(({ name, kind, status, error }) => [name, kind, status, error])).toEqual([
      ['retries', 'agent', 'completed', undefined],
      ['charge (try 1)', 'step', 'failed', 'card: declined'],
      ['charge (try 2)', 'step', 'failed', 'card: declined'],
      ['charge (try 3)', 'step', 'completed', undefined],
    ])
    expect(text).toMatch(/^NAME +KIND +TOOK +ERROR\n/)
    expect(text.match(/charge \(try \d\) +step +[█▏]+ .*card: declined$/gm)).toHaveLength(2)
  })

  it('shows a tool once, and the errors of a tool and of the run', async () => {
    const { lines } = await trace('tools')

    expect(lines.map(({ name, kind, status, error }) => [name, kind, status, error])).toEqual([
      ['tools', 'agent', 'failed', 'run-failed: no parcel'],
      ['pay', 'tool', 'completed', undefined],
      ['ship', 'tool', 'failed', 'execution_failed: no stock'],
    ])
  })
})
