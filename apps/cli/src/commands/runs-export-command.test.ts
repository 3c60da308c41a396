import type { RunContext } from '@perdure/core'
import { describe, expect, it } from 'vitest'
import { served } from '../../test/served.ts'

const SECRET = 'postgres://ann:hunter2@db.example.com/shop'

const agents = [
  {
    id: 'shop',
    description: 'Pays.',
    agent: {
      id: 'shop',
      async run(_: unknown, ctx: RunContext) {
        const paid = await ctx.tool({ name: 'pay', args: { euro: 3 }, execute: () => ({ paid: 3, at: SECRET }) })
        return paid.ok ? 'paid' : 'failed'
      },
    },
  },
]

describe('perdure runs export --fixture', () => {
  const { perdure } = served({ agents })
  const exported = async (...flags: readonly string[]) => {
    await perdure('agents', 'run', 'shop', '--input', `{"order":"A-17","database":"${SECRET}"}`)
    const { out, err } = await perdure('runs', 'export', 'last', '--fixture', ...flags)
    return { out, err, recording: JSON.parse(out) }
  }
  const auditOf = async () => (await perdure('audit', 'list', '--json')).out

  it('leaves out the content of a run that does not belong to the caller, and audits nothing', async () => {
    const { recording, out, err } = await exported()

    expect(recording).toMatchObject({ format: 'perdure-recording-1', run: { input: null, status: 'completed' } })
    expect(recording.calls).toMatchObject([{ kind: 'tool', seq: 1, toolName: 'pay', args: null, result: null }])
    expect(out).not.toContain('A-17')
    expect(err).toContain('its content is left out; --others writes it')
    expect(await auditOf()).not.toContain('runs.replay')
  })

  it('writes it with --others without secrets, and audits the access', async () => {
    const { recording, out, err } = await exported('--others')

    expect(recording.run.input).toMatchObject({ order: 'A-17' })
    expect(recording.calls).toMatchObject([{ args: { euro: 3 }, result: { paid: 3 } }])
    expect(out).not.toContain('hunter2')
    expect(err).toContain('this access is recorded in the audit chain')
    expect(await auditOf()).toContain('runs.replay')
  })

  it('keeps secrets with --raw', async () => {
    expect((await exported('--others', '--raw')).out).toContain('hunter2')
  })

  it('needs --fixture for the other flags', async () => {
    expect(await perdure('runs', 'export', 'last', '--raw')).toMatchObject({ exitCode: 2 })
  })
})
