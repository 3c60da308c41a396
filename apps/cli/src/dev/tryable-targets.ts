import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentRegistration, WorkflowRegistration } from '@perdure/core'
import type { Tryable } from './dev-messages.ts'
import { sampleInput } from './sample-input.ts'

const EXAMPLE_TEXT =
  'Perdure keeps every run in a log. The log survives a crash. A client that lost its connection resumes where it stopped.'

const SHOWN_AGENTS = 2

/** The first agents and the first workflow, each with an input that its schema accepts. */
export async function tryableTargets(
  cwd: string,
  agents: readonly AgentRegistration[],
  workflows: readonly WorkflowRegistration[],
): Promise<readonly Tryable[]> {
  const shown = [
    ...agents.slice(0, SHOWN_AGENTS).map(({ id, input }) => ({ kind: 'agent' as const, id, schema: input })),
    ...workflows.slice(0, 1).map(({ id, input }) => ({ kind: 'workflow' as const, id, schema: input })),
  ]
  return Promise.all(
    shown.map(async ({ kind, id, schema }) => ({
      kind,
      id,
      ...(await sampleInput(schema, usualInputs(cwd, kind, id))),
    })),
  )
}

function usualInputs(cwd: string, kind: Tryable['kind'], id: string): readonly unknown[] {
  if (kind === 'workflow') return [{}, { text: 'hello from perdure' }, 'hello from perdure']
  const greeting = [{ text: 'hello from perdure' }, 'hello from perdure', {}]
  if (id !== 'digest') return greeting
  return [existsSync(join(cwd, 'README.md')) ? { file: 'README.md' } : { text: EXAMPLE_TEXT }, ...greeting]
}
