import type { RunContext } from '@perdure/core'
import { describe, expect, it } from 'vitest'
import { served } from '../../test/served.ts'
import { COMMANDS } from '../manifest/commands.ts'

const payload = { letter: 'x'.repeat(200_000), andAlso: 'END-OF-REQUEST' }
const asks = { id: 'asks', run: (_: unknown, ctx: RunContext) => ctx.approval('pay', { payload }) }

describe('a long request for approval', () => {
  const { perdure } = served({ agents: [asks] })

  it('is printed as a whole by the command that a waiting run names before the one that approves', async () => {
    const { err } = await perdure('agents', 'run', 'asks')
    const named = [...err.matchAll(/perdure (approvals \w+) \S+/g)].map(([, command]) => command)

    expect(named).toEqual(['approvals show', 'approvals approve'])
    const shown = COMMANDS.filter(({ path }) => path.startsWith('approvals ') && !/approve|deny|list/.test(path))
    expect(shown.map(({ path }) => path)).toEqual(['approvals show'])
    for (const { path } of shown) {
      expect((await perdure(...path.split(' '), 'last')).out).toContain(JSON.stringify(payload))
    }
  })
})
