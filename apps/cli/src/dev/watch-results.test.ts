import { type AgentRegistration, type RunCode, type WorkflowRegistration, withOwnResult } from '@perdure/core'
import type { LogFields } from '@perdure/ports'
import { runAgent, runWorkflow } from '@perdure/server-app/testing'
import { describe, expect, it } from 'vitest'
import { watchAgentResults, watchWorkflowResults } from './watch-results.ts'

type Run = RunCode

/** Runs the code as an agent, and returns its outcome with the warnings. */
async function outcomeOf(run: Run) {
  const lines: [string, LogFields][] = []
  const registration = { id: 'triage', description: '', agent: { id: 'triage', run } }
  const watched = watchAgentResults(registration, (message, fields) => void lines.push([message, fields]))
  const { status, result, events } = await runAgent(watched, 'in')
  return { status, result, types: events.map(({ type }) => type), lines }
}

const LOST = 'the result is stored as JSON, which does not keep: result.score (NaN becomes null)'

describe('watchAgentResults', () => {
  it('warns once per run, and leaves the result unchanged', async () => {
    const { status, result, lines } = await outcomeOf(async (input) => ({ input, score: Number.NaN }))

    expect({ status, result }).toEqual({ status: 'completed', result: { input: 'in', score: null } })
    expect(lines).toEqual([[LOST, { agentId: 'triage', runId: expect.stringMatching(/^run_/) }]])
  })

  it('keeps the events of a generator, and warns of its result', async () => {
    const { types, lines } = await outcomeOf(async function* () {
      yield { type: 'mail.drafted' }
      return { score: Number.NaN }
    })

    expect(types).toEqual(['run.started', 'mail.drafted', 'run.completed'])
    expect(lines.map(([message]) => message)).toEqual([LOST])
  })

  it('warns of nothing when JSON keeps the result, the code suspends, or its toJSON throws', async () => {
    const throwing = {
      toJSON: () => {
        throw new Error('no')
      },
    }
    const outcomes = await Promise.all([
      outcomeOf(async () => ({ a: [1] })),
      outcomeOf(async (_, { suspend }) => suspend({ approvals: [{ name: 'ok' }] })),
      outcomeOf(async () => throwing),
    ])

    expect(outcomes.map(({ status }) => status)).toEqual(['completed', 'suspended', 'failed'])
    expect(outcomes.flatMap(({ lines }) => lines)).toEqual([])
  })

  it('warns of nothing when the code returns a stream, or a value that determines its own result', async () => {
    const text = async function* () {
      yield 'Hello'
    }
    const shown = withOwnResult({ internal: new Map() }, async () => ({ text: 'Hello' }))
    const outcomes = await Promise.all([
      outcomeOf(async () => ({ textStream: text(), internal: new Map() })),
      outcomeOf(async () => shown),
    ])

    expect(outcomes.map(({ result }) => result)).toEqual([{ text: 'Hello' }, { text: 'Hello' }])
    expect(outcomes.flatMap(({ lines }) => lines)).toEqual([])
  })

  it.each([undefined, null, {}, { id: 'a', agent: {} }, () => 1])(
    'returns an invalid registration unchanged: %s',
    (given) => {
      const warn = () => undefined
      const registration = given as unknown

      expect(watchAgentResults(registration as AgentRegistration, warn)).toBe(given)
      expect(watchWorkflowResults(registration as WorkflowRegistration, warn)).toBe(given)
    },
  )
})

describe('watchWorkflowResults', () => {
  it('warns with the id of the workflow', async () => {
    const lines: [string, LogFields][] = []
    const execute = async () => ({ score: Number.NaN })
    const watched = watchWorkflowResults({ id: 'w', description: '', workflow: { id: 'w', execute } }, (...line) => {
      lines.push(line)
    })

    await runWorkflow(watched, undefined)

    expect(lines).toEqual([[LOST, { workflowId: 'w', runId: expect.stringMatching(/^run_/) }]])
  })
})
