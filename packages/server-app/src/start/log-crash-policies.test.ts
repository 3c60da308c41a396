import { createAgentRegistry, createWorkflowRegistry, defineAgent } from '@perdure/core'
import type { Logger } from '@perdure/ports'
import { expect, it } from 'vitest'
import { logCrashPolicies } from './log-crash-policies.ts'

it('logs what a crash does to the runs of each agent and workflow', () => {
  const agents = createAgentRegistry()
  const workflows = createWorkflowRegistry()
  agents.register(defineAgent({ id: 'digest', recoveries: 5, run: () => 1 }))
  agents.register({ id: 'once', agent: { run: () => 1 } })
  workflows.register({ id: 'report', workflow: { execute: () => 1 } })
  const lines: unknown[] = []
  const ignore = () => undefined
  const logger: Logger = { debug: ignore, warn: ignore, error: ignore, info: (...line) => lines.push(line) }

  logCrashPolicies([...agents.list(), ...workflows.list()], logger)

  expect(lines).toEqual([
    [
      'agent digest: after a crash, its code executes again; recorded steps and tools are not repeated, but one that was executing is (its onCrash can change that)',
      { onCrash: 'retry', recoveries: 5 },
    ],
    ['agent once: after a crash, its running runs fail as interrupted', { onCrash: 'fail' }],
    [
      'workflow report: after a crash, its code executes again; recorded steps and tools are not repeated, but one that was executing is (its onCrash can change that)',
      { onCrash: 'retry', recoveries: 2 },
    ],
  ])
})
