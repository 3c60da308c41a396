import { createRegistry, type TargetRegistry } from './target-registry.ts'
import type { WorkflowRegistration } from './workflow.ts'

export type WorkflowRegistry = TargetRegistry<WorkflowRegistration>

export const createWorkflowRegistry = (): WorkflowRegistry =>
  createRegistry<WorkflowRegistration>({
    kind: 'workflow',
    notFound: 'workflow-not-found',
    recovery: 'resume',
    method: 'workflow.execute',
    callOf: ({ workflow }) =>
      typeof workflow?.execute === 'function' ? (input, context) => workflow.execute(input, context) : undefined,
  })
