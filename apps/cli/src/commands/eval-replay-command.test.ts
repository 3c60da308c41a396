import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { recordingTerminal } from '../../test/recording-terminal.ts'
import { temporaryDir } from '../../test/temporary-dir.ts'
import { runCli } from '../run-cli.ts'

const dir = temporaryDir()

const CONFIG = `export default {
  auth: { kind: 'none' },
  storage: { path: './data.db' },
  agents: [{ id: 'support', description: '', agent: { id: 'support', run: () => 'hi' } }],
  workflows: [{ id: 'refund', description: '', workflow: { id: 'refund', execute: () => 'paid' } }],
}
`

async function replay(...filters: readonly string[]) {
  writeFileSync(join(dir(), 'perdure.config.mjs'), CONFIG)
  const openTerminal = () => recordingTerminal({ cwd: dir(), env: { XDG_CONFIG_HOME: dir() } })
  expect(await runCli(['migrate', 'up'], openTerminal())).toBe(0)
  const terminal = openTerminal()
  const exitCode = await runCli(['eval', ...filters.flatMap((filter) => ['--replay', filter])], terminal)
  return { exitCode, out: terminal.out(), err: terminal.err() }
}

describe('perdure eval --replay', () => {
  it.each([
    ['agent=suport', 'no agent is named suport, and no run of one is stored\n  hint: agents: support\n'],
    ['agent=refund', 'no agent is named refund, and no run of one is stored\n  hint: agents: support\n'],
    ['workflow=support', 'no workflow is named support, and no run of one is stored\n  hint: workflows: refund\n'],
    ['agents=support', '--replay has no filter agents\n  hint: filters: since, agent, workflow, such as since=7d\n'],
  ])('refuses %s', async (filter, text) => {
    expect(await replay(filter)).toMatchObject({ exitCode: 2, out: '', err: expect.stringContaining(text) })
  })

  it('refuses an agent together with a workflow', async () => {
    const { exitCode, err } = await replay('agent=support', 'workflow=refund')

    expect([exitCode, err]).toEqual([2, expect.stringContaining('--replay takes agent or workflow, not both')])
  })

  it('exits 0 for an agent without a stored run', async () => {
    expect(await replay('agent=support')).toMatchObject({ exitCode: 0, out: 'nothing to show\n' })
  })
})
